import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { normal } from './spread.js'
import { pairedIntervals, studentQuantile } from './paired.js'

test.each([
  [0.025, 1, 12.7062],
  [0.025, 2, 4.30265],
  [0.025, 3, 3.18245],
  [0.025, 4, 2.77645],
  [0.025, 29, 2.04523],
  [0.0005, 4, 8.6103],
  [0.001, 7, 4.78529],
])('studentQuantile with tail probability %d and %i degrees of freedom is %d', (tail, freedom, value) => {
  expect(studentQuantile(tail, freedom)).toBeCloseTo(value, 4)
})

const pairedInterval = (differences: readonly number[], confidence: number) =>
  pairedIntervals(differences)?.(confidence)

test('a confidence interval contains the mean as often as stated, even with few pairs', () => {
  const random = seededRandom(3)
  for (const count of [2, 5, 12]) {
    let held = 0
    for (let trial = 0; trial < 100; trial += 1) {
      const { low, high } = pairedInterval(
        Array.from({ length: count }, () => 10 + normal(random)),
        0.95,
      ) ?? { low: 0, high: 0 }
      if (low <= 10 && high >= 10) held += 1
    }
    expect(held).toBeGreaterThanOrEqual(90)
  }
})

test('a confidence interval of one pair is undefined, and four equal differences are certain', () => {
  expect(pairedInterval([5], 0.95)).toBeUndefined()
  expect(pairedInterval([5, 5, 5, 5], 0.95)).toEqual({ low: 5, high: 5 })
  expect(pairedInterval([0, 0], 0.95)).toEqual({ low: 0, high: 0 })
})

test('the confidence interval of two or three pairs that differ by chance hardly ever excludes 0', () => {
  const random = seededRandom(5)
  const matched = () => Array.from({ length: 20 }, () => Number(random() < 0.95)).reduce((sum, one) => sum + one, 0)
  for (const count of [2, 3]) {
    let told = 0
    for (let trial = 0; trial < 400; trial += 1) {
      const differences = Array.from({ length: count }, () => (matched() - matched()) / 20)
      const { low, high } = pairedInterval(differences, 1 - 0.05 / 15) ?? { low: 0, high: 0 }
      if (low > 0 || high < 0) told += 1
    }
    expect(told).toBeLessThanOrEqual(4)
  }
})
