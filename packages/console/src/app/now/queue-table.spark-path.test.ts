import { expect, test } from 'vitest'
import { sparkPath } from './queue-table.js'

test.each([
  ['no values', [], ''],
  ['values over the whole width', [0, 5, 10], 'M0 10h0L50 5L100 0'],
  ['a short history at the right', [10, 0], 'M50 0h0L100 10'],
  ['a gap', [10, null, 10], 'M0 0h0M100 0h0'],
  ['only the newest of too many values', [9, 0, 5, 10], 'M0 10h0L50 5L100 0'],
])('the sparkline shows %s', (_, values, path) => {
  expect(sparkPath(values, 3, 100, 10, 10)).toBe(path)
})

test('a sparkline whose values are all 0 is drawn on the baseline', () => {
  expect(sparkPath([0, 0], 2, 100, 10, 0)).toBe('M0 10h0L100 10')
})
