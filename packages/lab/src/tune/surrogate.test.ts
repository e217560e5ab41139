import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { latinHypercube } from './space.js'
import { surrogateOf } from './surrogate.js'

const smooth = ([x = 0, y = 0]: readonly number[]) => 20 + Math.sin(2 * x) + 2 * (y - 0.3) ** 2

test('the surrogate model predicts a smooth function well between known points, and worse far from them', () => {
  const known = latinHypercube(40, 2, seededRandom(1))
  const guess = surrogateOf(known, known.map(smooth))
  for (const point of latinHypercube(20, 2, seededRandom(2)))
    expect(Math.abs(guess(point).mean - smooth(point))).toBeLessThan(0.1)
  expect(guess([3, 3]).deviation).toBeGreaterThan(10 * guess([0.5, 0.5]).deviation)
})

test('the surrogate model predicts the same value everywhere if all known values are equal', () => {
  expect(surrogateOf([[0], [1]], [5, 5])([0.5]).mean).toBe(5)
})
