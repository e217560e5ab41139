import type { Random } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { runPool } from './pool-load.fixture.js'
import { lossShare, stockFor } from './stock-size.js'

const exponential = (random: Random) => -20 * Math.log(1 - random())
const matchSeconds = (random: Random) => 600 + 600 * random()
const GOAL = { hit: 0.95, maxIdleShare: 0.1, max: 1000 }

describe('the share of matches that find a warm server', () => {
  test.each([120, 900, 7200])(
    'at %i matches an hour, the share of matches with a warm server is within two points of the formula',
    (perHour) => {
      const { hit, idleShare } = runPool({
        perHour: () => perHour,
        bootSeconds: exponential,
        matchSeconds,
        seconds: 1800 + (1500 / perHour) * 3600,
        warmUpSeconds: 1800,
        pool: { warm: { max: 1000 } },
        seed: perHour,
      })
      const load = { rate: perHour / 3600, bootSeconds: 20, matchSeconds: 900 }
      const formula = 1 - lossShare(stockFor(load, GOAL), load.rate * load.bootSeconds)
      expect(Math.abs(hit - formula)).toBeLessThanOrEqual(0.02)
      expect(hit).toBeGreaterThanOrEqual(0.94)
      expect(idleShare).toBeLessThanOrEqual(0.1)
    },
  )
})

test('the number of warm servers follows a day whose evening has ten times the matches of its morning', () => {
  const { hit, idleShare } = runPool({
    perHour: (second) => 600 * (0.55 - 0.45 * Math.cos((second / 86_400) * 2 * Math.PI)),
    bootSeconds: exponential,
    matchSeconds,
    seconds: 86_400,
    warmUpSeconds: 3600,
    pool: { warm: { max: 1000 } },
    seed: 5,
  })
  expect(hit).toBeGreaterThanOrEqual(0.94)
  expect(idleShare).toBeLessThanOrEqual(0.1)
})

test('if a server serves 20 matches, a pool needs at most 6 creates per 100 matches, within its idle share', () => {
  const { matches, creates, hit, idleShare } = runPool({
    perHour: () => 900,
    bootSeconds: () => 20,
    matchSeconds,
    seconds: 5 * 3600,
    warmUpSeconds: 2 * 3600,
    pool: { warm: { max: 1000 }, reuse: { maxMatches: 20 }, keepIdleSeconds: 165 },
    seed: 6,
  })
  expect(creates / matches).toBeLessThanOrEqual(0.06)
  expect(hit).toBeGreaterThanOrEqual(0.94)
  expect(idleShare).toBeLessThanOrEqual(0.1)
})
