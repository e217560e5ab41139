import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatA, formatB, parseA } from './timestamps.js'

const time = Date.UTC(2026, 0, 31, 8, 15, 30)

test('timestamp format A has microseconds, format B milliseconds and a Z', () => {
  expect(formatA(time + 250.25)).toBe('2026-01-31 08:15:30.250250')
  expect(formatA(time)).toBe('2026-01-31 08:15:30.000000')
  expect(formatB(time + 250)).toBe('2026-01-31T08:15:30.250Z')
})

test('a timestamp fraction just under a second is not rounded up to the next second', () => {
  expect(formatA(time + 999.9998)).toBe('2026-01-31 08:15:30.999999')
})

test('timestamp format A is parsed, with 1 to 6 digits of the second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (ms) => {
      expect(parseA(formatA(ms))).toBe(ms)
    }),
  )
  expect(parseA('2026-01-31 08:15:30.25')).toBe(time + 250)
})

test.each([
  '2026-02-30 08:15:30.0',
  '2026-13-01 00:00:00.0',
  '2026-01-31 24:00:01.0',
  '2026-01-31 08:15:30',
  '2026-01-31T08:15:30.0',
  '',
])('%j is refused as a timestamp', (text) => {
  expect(parseA(text)).toBeUndefined()
})
