import { expect, test } from 'vitest'
import { exponentOf } from './growth.js'

const SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000]

test('the growth check computes the exponent of a power law, for any constant factor', () => {
  for (const [factor, exponent] of [
    [3, 1],
    [1e-6, 2],
    [0.5, 0.75],
  ] as const)
    expect(exponentOf(SIZES.map((size) => [size, factor * size ** exponent]))).toBeCloseTo(exponent, 10)
})

test('the growth check gives n log n an exponent between 1.05 and 1.1', () => {
  const exponent = exponentOf(SIZES.map((size) => [size, size * Math.log(size)]))
  expect(exponent).toBeGreaterThan(1.05)
  expect(exponent).toBeLessThan(1.1)
})
