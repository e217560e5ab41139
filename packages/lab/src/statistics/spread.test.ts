import { expect, test } from 'vitest'
import { rounded, spreadOf } from './spread.js'

test('a percentile is one of the given values, by the nearest rank', () => {
  const values = Float64Array.from({ length: 100 }, (_, at) => 100 - at)
  expect(spreadOf(values, 1)).toEqual({ count: 100, mean: 50.5, p10: 10, p50: 50, p90: 90, p95: 95, p99: 99, max: 100 })
  expect(spreadOf(Float64Array.of(7, -3), 0)).toMatchObject({ mean: 2, p10: -3, p50: -3, p90: 7 })
})

test('the spread of no values is 0, and rounding never gives -0', () => {
  expect(new Set(Object.values(spreadOf(new Float64Array(0), 2)))).toEqual(new Set([0]))
  expect(Object.is(rounded(-0.001, 2), 0)).toBe(true)
})
