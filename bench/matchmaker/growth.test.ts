import { expect, test } from 'vitest'
import { exponentOf } from './growth.js'

const SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000]

test('the exponent of a power law is found, for any constant factor', () => {
  for (const [factor, exponent] of [
    [3, 1],
    [1e-6, 2],
    [0.5, 0.75],
  ] as const)
    expect(exponentOf(SIZES.map((size) => [size, factor * size ** exponent]))).toBeCloseTo(exponent, 10)
})

test('n log n grows slightly faster than linearly, and within the allowed exponent', () => {
  const exponent = exponentOf(SIZES.map((size) => [size, size * Math.log(size)]))
  expect(exponent).toBeGreaterThan(1.05)
  expect(exponent).toBeLessThan(1.1)
})
