import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDeployTimes } from './deploy-times.js'

/** Draws log-normal times around the median. */
function waits(count: number, medianMs: number, spread: number): number[] {
  const random = seededRandom(1)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Array.from({ length: count }, () => medianMs * Math.exp(spread * normal()))
}

function learned(all: readonly number[]) {
  const times = createDeployTimes()
  for (const ms of all) times.took('game/1', ms)
  return times
}

test('the chance of READY at an age is the share of earlier servers that were READY by that age', () => {
  const all = waits(500, 10_000, 0.4)
  const times = learned(all)
  for (const [seen, age] of [
    [0, 6000],
    [6000, 10_000],
    [9000, 9500],
    [12_000, 20_000],
  ] as const) {
    const left = all.filter((ms) => ms > seen)
    const share = left.filter((ms) => ms <= age).length / left.length
    expect(Math.abs(times.chance('game/1', seen, age) - share)).toBeLessThan(0.05)
  }
})

test('the deploy time of a new application version is learned quickly', () => {
  const times = learned([...waits(5000, 10_000, 0.3), ...waits(1500, 2000, 0.3)])
  expect(times.chance('game/1', 0, 3500)).toBeGreaterThan(0.7)
})

test('deploy times are learned per kind of server, and an unknown kind has a default', () => {
  const times = learned(waits(100, 60_000, 0.2))
  expect(times.chance('game/1', 0, 20_000)).toBeLessThan(0.1)
  expect(times.chance('game/2', 0, 20_000)).toBeGreaterThan(0.8)
})

test('a server that takes longer than all earlier servers may be READY at any time', () => {
  const times = learned(waits(400, 5000, 0.1))
  const chance = times.chance('game/1', 600_000, 610_000)
  expect(chance).toBeGreaterThan(0.1)
  expect(chance).toBeLessThan(0.5)
})

describe('the chance of READY, for any history', () => {
  const ages = fc.array(fc.double({ min: 0, max: 2_000_000, noNaN: true }), { minLength: 2, maxLength: 6 })
  test('property: the chance of READY is between 0 and 1 and does not fall with age', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 3_000_000, noNaN: true }), { maxLength: 900 }),
        ages,
        (all, unsorted) => {
          const times = learned(all)
          const [seen = 0, ...later] = unsorted.toSorted((a, b) => a - b)
          let before = 0
          for (const age of later) {
            const chance = times.chance('game/1', seen, age)
            expect(chance).toBeGreaterThanOrEqual(before - 1e-9)
            expect(chance).toBeLessThanOrEqual(1)
            before = chance
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})
