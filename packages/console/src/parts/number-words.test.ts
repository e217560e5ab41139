import { expect, test } from 'vitest'
import { counted, duration, grouped, sum } from './number-words.js'

test.each([
  [0, '0 s'],
  [999, '0 s'],
  [1000, '1 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [200_500, '3 min 20 s'],
  [3_600_000 + 59_000, '1 h'],
  [7_500_000, '2 h 5 min'],
  [90_000_000, '1 d 1 h'],
])('%d ms are shown as %s', (ms, words) => {
  expect(duration(ms)).toBe(words)
})

test('numbers have commas between thousands, and a counted noun is singular only for 1', () => {
  expect([grouped(1_234_567), counted(1, 'server'), counted(0, 'server'), counted(1200, 'server')]).toEqual([
    '1,234,567',
    '1 server',
    '0 servers',
    '1,200 servers',
  ])
  expect([sum([]), sum([1, 2, 3])]).toEqual([0, 6])
})
