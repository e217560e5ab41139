import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRateCap, takeFrom } from './traffic-limits.js'

const start = Date.UTC(2026, 0, 1)

test('relay packets of one second can pass together, and further packets at the rate', () => {
  const cap = createRateCap(4)
  const taken = [0, 0, 0, 0, 0, 249, 250, 250, 499, 500, 5000, 5000, 5000, 5000, 5000].map((instant) =>
    takeFrom(cap, start + instant),
  )
  expect(taken).toEqual([true, true, true, true, false, false, true, false, false, true, true, true, true, true, false])
})

test('in any period, relay packets stay within a burst of one second plus the rate', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 80 })
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 50 }), (waits, rate) => {
      const cap = createRateCap(rate)
      let now = start
      const passed = waits.map((wait) => (now += wait)).filter((instant) => takeFrom(cap, instant))
      for (const [index, from] of passed.entries()) {
        for (const [later, to] of passed.entries()) {
          if (later >= index) expect(later - index + 1).toBeLessThanOrEqual(rate + ((to - from) * rate) / 1000 + 1e-3)
        }
      }
      expect(takeFrom(cap, now + 1000 / rate)).toBe(true)
    }),
    { numRuns: 50 },
  )
})
