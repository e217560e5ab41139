import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lossShare, meanIdle, stockFor } from './stock-size.js'

/** Simulates matches that take a warm server or create their own. A taken server is replaced at once. */
function simulate(rate: number, boot: () => number, servers: number, matches: number, random: () => number) {
  let time = 0
  let idle = servers
  let hits = 0
  let idleTime = 0
  const due: number[] = []
  for (let match = 0; match < matches; match += 1) {
    const next = time - Math.log(random()) / rate
    let at = time
    while (due.length > 0 && (due[0] as number) <= next) {
      idleTime += idle * ((due[0] as number) - at)
      at = due.shift() as number
      idle += 1
    }
    idleTime += idle * (next - at)
    time = next
    if (idle === 0) continue
    hits += 1
    idle -= 1
    const ready = time + boot()
    let place = due.length
    while (place > 0 && (due[place - 1] as number) > ready) place -= 1
    due.splice(place, 0, ready)
  }
  return { hit: hits / matches, idle: idleTime / time }
}

function seeded(seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
}

const BOOT = 20
const boots = (random: () => number): readonly (readonly [string, () => number])[] => [
  ['fixed', () => BOOT],
  ['exponential', () => -BOOT * Math.log(random())],
  ['heavy', () => (random() < 0.9 ? BOOT * 0.6 : BOOT * 4.6)],
]

describe('the number of warm servers', () => {
  test.each([10, 60, 180, 900, 3600, 36_000])(
    'the chosen number of warm servers has its predicted hit rate in a simulation at %i matches an hour',
    (perHour) => {
      const random = seeded(7)
      const rate = perHour / 3600
      const load = rate * BOOT
      const servers = stockFor(
        { rate, bootSeconds: BOOT, matchSeconds: 900 },
        { hit: 0.95, maxIdleShare: Infinity, max: 1000 },
      )
      expect(1 - lossShare(servers, load)).toBeGreaterThanOrEqual(0.95)
      expect(1 - lossShare(servers - 1, load)).toBeLessThan(0.95)
      for (const [, boot] of boots(random)) {
        const { hit, idle } = simulate(rate, boot, servers, 40_000, random)
        expect(Math.abs(hit - (1 - lossShare(servers, load)))).toBeLessThan(0.01)
        expect(Math.abs(idle - meanIdle(servers, load))).toBeLessThan(0.05 * servers + 0.1)
      }
    },
  )

  test('property: the number of warm servers is the smallest that reaches the goal, or 0 beyond a limit', () => {
    const load = fc.record({
      rate: fc.double({ min: 0, max: 20, noNaN: true }),
      bootSeconds: fc.double({ min: 1, max: 120, noNaN: true }),
      matchSeconds: fc.double({ min: 10, max: 7200, noNaN: true }),
    })
    const goal = fc.record({
      hit: fc.double({ min: 0, max: 0.999, noNaN: true }),
      maxIdleShare: fc.double({ min: 0, max: 10, noNaN: true }),
      max: fc.nat(3000),
    })
    fc.assert(
      fc.property(load, goal, (place, wanted) => {
        const servers = stockFor(place, wanted)
        const offered = place.rate * place.bootSeconds
        expect(servers).toBeLessThanOrEqual(wanted.max)
        if (servers === 0) return
        expect(meanIdle(servers, offered)).toBeLessThanOrEqual(
          wanted.maxIdleShare * place.rate * place.matchSeconds + 1e-9,
        )
        expect(1 - lossShare(servers - 1, offered)).toBeLessThan(wanted.hit)
        if (servers < wanted.max) expect(1 - lossShare(servers, offered)).toBeGreaterThanOrEqual(wanted.hit)
      }),
    )
  })
})
