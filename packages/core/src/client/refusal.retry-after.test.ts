import { expect, test } from 'vitest'
import { retryAfterMs } from './refusal.js'

const now = Date.parse('2026-08-05T12:00:00Z')
const later = 'Wed, 05 Aug 2026 12:00:30 GMT'

test.each([
  ['120', undefined, 120_000],
  [' 7 ', undefined, 7000],
  ['0', undefined, 0],
  ['0.5', undefined, 500],
  [later, undefined, 30_000],
  // The service's clock is ten minutes ahead of this process. The header still means 30 s.
  ['Wed, 05 Aug 2026 12:10:30 GMT', 'Wed, 05 Aug 2026 12:10:00 GMT', 30_000],
  [later, 'not a date', 30_000],
  ['Wed, 05 Aug 2026 11:59:00 GMT', undefined, 0],
  ['Wednesday, 05-Aug-26 12:00:30 GMT', undefined, 30_000],
  ['Wed Aug  5 12:00:30 2026', undefined, 30_000],
  ['Wed Aug 15 12:00:30 2026', 'Sat Aug 15 12:00:00 2026', 30_000],
  ['2026 12:00:30', undefined, undefined],
  [undefined, undefined, undefined],
  ['', undefined, undefined],
  ['-5', undefined, undefined],
  ['soon', undefined, undefined],
  ['1e9', undefined, undefined],
  ['2026', undefined, 2_026_000],
  ['Wed, 99 Foo 2026 12:00:30 GMT', undefined, undefined],
])('Retry-After %j with Date %j means a wait of %j ms', (retryAfter, date, expected) => {
  expect(retryAfterMs({ retryAfter, date }, now)).toBe(expected)
})
