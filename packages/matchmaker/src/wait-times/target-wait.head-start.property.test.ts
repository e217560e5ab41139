import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HeadStart, type SeenLately } from './target-wait.js'

const TARGET_MS = 30_000
const MOST_MS = 5 * TARGET_MS
const MEMORY_MS = 3 * TARGET_MS

test('property: a relaxation head start stays within its bounds', () => {
  const seen: fc.Arbitrary<SeenLately> = fc.record({
    elapsedMs: fc.constantFrom(1000, 5000, 3_600_000),
    p90Ms: fc.option(fc.double({ min: 0, max: 1e7, noNaN: true }), { nil: undefined }),
    arrivals: fc.double({ min: 0, max: 1e6, noNaN: true }),
    memoryMs: fc.constant(MEMORY_MS),
  })
  fc.assert(
    fc.property(fc.array(seen, { maxLength: 50 }), (steps) => {
      const headStart = new HeadStart(TARGET_MS, MOST_MS)
      for (const step of steps) {
        headStart.step(step)
        expect(headStart.ms).toBeGreaterThanOrEqual(-TARGET_MS)
        expect(headStart.ms).toBeLessThanOrEqual(MOST_MS)
      }
    }),
  )
})

test('a relaxation head start grows if waits are too long, shrinks if too short, and else stays', () => {
  const after = (p90Ms: number | undefined) => {
    const headStart = new HeadStart(TARGET_MS, MOST_MS, 0)
    headStart.step({ elapsedMs: 1000, p90Ms, arrivals: 100, memoryMs: MEMORY_MS })
    return headStart.ms
  }
  expect(after(40_000)).toBeGreaterThan(0)
  expect(after(20_000)).toBeLessThan(0)
  expect(after(undefined)).toBe(0)
})

/**
 * Simulates a queue whose waits are inversely proportional to the number of players, and shrink by the head start. The
 * controller sees an average over its memory.
 */
function waitsOf(loads: readonly number[], neededMs: (load: number) => number): number[] {
  const headStart = new HeadStart(TARGET_MS, MOST_MS)
  let [seenMs, arrivals] = [TARGET_MS, (loads[0] ?? 0) * (MEMORY_MS / 1000)]
  return loads.map((load) => {
    const waitMs = Math.max(0, neededMs(load) - headStart.ms)
    const share = 1000 / (TARGET_MS + MEMORY_MS)
    seenMs += share * (waitMs - seenMs)
    arrivals += load - arrivals / (MEMORY_MS / 1000)
    headStart.step({ elapsedMs: 1000, p90Ms: seenMs, arrivals, memoryMs: MEMORY_MS })
    return waitMs
  })
}

describe('the waits of a queue whose load falls to a tenth and comes back', () => {
  const minutes = (load: number, many: number) => Array.from({ length: many * 60 }, () => load)
  const loads = [...minutes(4, 20), ...minutes(0.4, 20), ...minutes(4, 20)]

  // With a tenth of the players, the arrivals alone predict 1.84 target waits.
  test.each([1, 1.84, 2.5])(
    'if a load of a tenth needs %d target waits more, waits still return to the target within 15 minutes',
    (more) => {
      const waits = waitsOf(loads, (load) => TARGET_MS * (2 - more * Math.log10(load / 4)))
      const settled = [...waits.slice(15 * 60, 20 * 60), ...waits.slice(30 * 60, 40 * 60), ...waits.slice(50 * 60)]
      for (const wait of settled) expect(Math.abs(wait / TARGET_MS - 1)).toBeLessThan(0.15)
    },
  )

  test('after each change of the load, waits overshoot the target wait at most once', () => {
    const waits = waitsOf(loads, (load) => TARGET_MS * (2 - 2.5 * Math.log10(load / 4)))
    for (const from of [20, 40]) {
      const after = waits.slice(from * 60, (from + 20) * 60).map((wait) => wait - TARGET_MS)
      const large = after.filter((one) => Math.abs(one) > 0.2 * TARGET_MS).map(Math.sign)
      expect(large.filter((sign, at) => at > 0 && sign !== large[at - 1]).length).toBeLessThanOrEqual(1)
    }
  })
})
