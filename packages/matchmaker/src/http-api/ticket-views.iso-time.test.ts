import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoTime } from './ticket-views.js'

test('times are written as a Date writes them, one after another of the same second and of others', () => {
  const near = fc.integer({ min: -3000, max: 3000 })
  const at = fc.oneof(
    near,
    near.map((ms) => 1_700_000_000_000 + ms),
    near.map((ms) => 253_402_300_800_000 + ms), // the year 10000
    fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true }),
  )
  fc.assert(
    fc.property(fc.array(at), (times) => {
      for (const time of times) expect(isoTime(time)).toBe(new Date(time).toISOString())
    }),
  )
})

test.each([8.64e15 + 1, Number.NaN, Infinity])('%d is no time', (at) => {
  expect(() => isoTime(at)).toThrow(RangeError)
})
