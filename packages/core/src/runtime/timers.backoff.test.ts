import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from './timers.js'

test('each backoff is at most twice the previous one and at most the cap, with a limited random part', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), part, part, (failures, random, jitter) => {
      const bound = Math.min(5000, 100 * 2 ** (failures - 1))
      const waitMs = backoffMs(failures, random, { baseMs: 100, capMs: 5000, jitter })
      expect(waitMs).toBeLessThanOrEqual(bound)
      expect(waitMs).toBeGreaterThanOrEqual(bound * (1 - jitter) - 1e-9)
    }),
  )
  expect([1, 2, 3, 9].map((failures) => backoffMs(failures, 0.5, { baseMs: 100, capMs: 1000 }))).toEqual([
    50, 100, 200, 500,
  ])
  expect([1, 2, 3, 9].map((failures) => backoffMs(failures, 0.5, { baseMs: 100, capMs: 1000, jitter: 0 }))).toEqual([
    100, 200, 400, 1000,
  ])
})
