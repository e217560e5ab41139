import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exponential, weibull } from '../generate/distributions.js'
import { patienceCurveOf, type RecordedWait } from './habits.js'

const gone = (ms: number): RecordedWait => ({ ms, gaveUp: true })
const matched = (ms: number): RecordedWait => ({ ms, gaveUp: false })

test('the patience curve of four players who gave up gives half of them more patience than the second has', () => {
  const curve = patienceCurveOf([gone(10), gone(20), gone(30), gone(40)])
  expect([0.1, 0.3, 0.6, 0.9].map((share) => curve?.at(0, share))).toEqual([10, 20, 30, 40])
  // A player who has waited for 20 is one of the two with a longer patience.
  expect([0.1, 0.6].map((share) => curve?.at(20, share))).toEqual([30, 40])
})

test('the patience curve counts the wait of a matched player as patience, so later cancels weigh more', () => {
  // By the life table, 1/4 have given up by 10. Two are left at 30, and half of them give up then.
  const curve = patienceCurveOf([gone(10), matched(20), gone(30), matched(40)])
  expect(curve?.at(0, 0.24)).toBe(10)
  expect(curve?.at(0, 0.26)).toBe(30)
  expect(curve?.at(0, 0.62)).toBe(30)
  expect(curve?.at(0, 0.63)).toBeGreaterThan(30)
})

test('the patience curve is undefined if no player gave up', () => {
  expect(patienceCurveOf([matched(5), matched(6)])).toBeUndefined()
  expect(patienceCurveOf([])).toBeUndefined()
})

test('patience exceeds the wait so far, is finite, and grows with the share (property)', () => {
  const waited = fc.record({ ms: fc.integer({ min: 0, max: 50 }), gaveUp: fc.boolean() })
  const share = fc.double({ min: 0, max: 0.999_999, noNaN: true })
  fc.assert(
    fc.property(fc.array(waited, { minLength: 1 }), fc.nat(60), share, share, (seen, ms, one, other) => {
      const curve = patienceCurveOf(seen)
      expect(curve !== undefined).toBe(seen.some(({ gaveUp }) => gaveUp))
      if (curve === undefined) return
      const [low, high] = [one, other].toSorted((a, b) => a - b).map((at) => curve.at(ms, at)) as [number, number]
      expect(low).toBeGreaterThanOrEqual(ms)
      expect(high).toBeGreaterThanOrEqual(low)
      expect(high).toBeLessThan(Infinity)
    }),
  )
})

test('the patience curve recovers the patience of players whom a match interrupted', () => {
  const random = seededRandom(5)
  const patiences = Array.from({ length: 4000 }, () => weibull(random, 60_000, 1.5))
  // Half of the players are matched before they would give up, most of them early.
  const seen = patiences.map((patience) => {
    const match = exponential(random, 60_000)
    return match < patience ? matched(match) : gone(patience)
  })
  expect(seen.filter(({ gaveUp }) => !gaveUp).length).toBeGreaterThan(2000)
  const curve = patienceCurveOf(seen)
  const found = seen.map(({ ms, gaveUp }) => (gaveUp ? ms : (curve?.at(ms, random()) ?? 0)))
  for (const ms of [20_000, 60_000, 120_000, 180_000]) {
    const share = (values: readonly number[]) => values.filter((value) => value > ms).length / values.length
    expect(Math.abs(share(found) - share(patiences)), `${ms}`).toBeLessThan(0.04)
  }
  // Without the life table, patience would seem much too short.
  const naive = seen.flatMap(({ ms, gaveUp }) => (gaveUp ? ms : []))
  expect(naive.filter((ms) => ms > 60_000).length / naive.length).toBeLessThan(0.4)
})
