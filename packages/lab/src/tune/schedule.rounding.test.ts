import fc from 'fast-check'
import { expect, test } from 'vitest'
import { roundedValue, roundedWait } from './schedule.js'

test.each([
  [137, 900, false, 140],
  [1234, 5000, false, 1200],
  [12.34, 5000, false, 12],
  [0.1234, 0.9, false, 0.12],
  // With two digits, values of a narrow range could not be told apart.
  [1023.7, 50, false, 1024],
  [4.6, 7, true, 5],
  [0.3, 1, false, 0.3],
  [0, 100, false, 0],
  [-137, 900, false, -140],
  [Infinity, 900, false, Infinity],
])('the number %d in a range of %d is rounded to a short number', (value, range, whole, written) => {
  expect(roundedValue(value, range, whole)).toBe(written)
})

test.each([
  [12_345, 12_000],
  [99_400, 99_000],
  [137_000, 140_000],
  [10, 1000],
])('a searched wait of %d ms is rounded to whole seconds', (ms, told) => {
  expect(roundedWait(ms)).toBe(told)
})

test('a rounded number is short and differs by at most 5 % (property)', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), (value) => {
      const written = roundedValue(value, Infinity, false)
      expect(Math.abs(written - value)).toBeLessThanOrEqual(value * 0.0501)
      expect(written).toBe(Number(written.toPrecision(2)))
    }),
  )
})
