import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecentSum, WaitHistogram } from './activity.js'

const wait = fc.integer({ min: 0, max: 24 * 3_600_000 })

test('a quantile of the wait histogram is within 5 % or 50 ms of the wait of that rank (property)', () => {
  fc.assert(
    fc.property(fc.array(wait, { minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (waits, share) => {
      const histogram = new WaitHistogram()
      for (const ms of waits) histogram.add(ms)
      const sorted = waits.toSorted((a, b) => a - b)
      const exact = sorted[Math.max(0, Math.ceil(share * waits.length) - 1)] as number
      const found = histogram.quantile(share) as number
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(Math.max(50, exact * 0.05))
    }),
  )
})

test('a wait histogram from which all its parts are subtracted is empty', () => {
  fc.assert(
    fc.property(fc.array(wait), fc.array(wait), (some, others) => {
      const histogram = new WaitHistogram()
      const other = new WaitHistogram()
      for (const ms of some) histogram.add(ms)
      for (const ms of others) other.add(ms)
      const before = [0.1, 0.5, 0.95].map((share) => histogram.quantile(share))
      histogram.merge(other, 1)
      histogram.merge(other, -1)
      expect([0.1, 0.5, 0.95].map((share) => histogram.quantile(share))).toEqual(before)
      expect(histogram.quantile(0.5) === null).toBe(some.length === 0)
    }),
  )
})

test('a minute count of the console covers the last 60 seconds, including the current one', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ passMs: fc.nat(40_000), count: fc.nat(5) }), { maxLength: 50 }), (acts) => {
      const counted = new RecentSum()
      const all: { second: number; count: number }[] = []
      let now = 1_767_225_600_000
      for (const { passMs, count } of acts) {
        now += passMs
        counted.add(now, count)
        all.push({ second: Math.floor(now / 1000), count })
        const since = Math.floor(now / 1000) - 59
        const expected = all.reduce((sum, one) => (one.second >= since ? sum + one.count : sum), 0)
        expect(counted.within(now)).toBe(expected)
      }
    }),
  )
})
