import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rankCorrelation } from './spread.js'

test('the rank correlation is 1 for equal, -1 for opposite and 0 for unrelated orders', () => {
  expect(
    rankCorrelation([
      [1, 10],
      [2, 20],
      [3, 1000],
    ]),
  ).toBe(1)
  expect(
    rankCorrelation([
      [1, 5],
      [2, 4],
      [3, -9],
    ]),
  ).toBe(-1)
  expect(
    rankCorrelation([
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ]),
  ).toBe(0)
  expect([
    rankCorrelation([]),
    rankCorrelation([[1, 1]]),
    rankCorrelation([
      [1, 1],
      [1, 2],
    ]),
  ]).toEqual([0, 0, 0])
  // Kendall and Gibbons, Rank Correlation Methods: ranks 1, 2.5, 2.5, 4 beside 1, 2, 3, 4.
  expect(
    rankCorrelation([
      [7, 1],
      [8, 2],
      [8, 3],
      [9, 4],
    ]),
  ).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12)
})

test('the rank correlation depends only on the order (property)', () => {
  const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })))
  fc.assert(
    fc.property(pairs, (given) => {
      const grown = given.map(([one, other]) => [one ** 3 - 5, Math.exp(other)] as const)
      expect(rankCorrelation(grown)).toBeCloseTo(rankCorrelation(given), 12)
      expect(Math.abs(rankCorrelation(given))).toBeLessThanOrEqual(1 + 1e-12)
    }),
  )
})
