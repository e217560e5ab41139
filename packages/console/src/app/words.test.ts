import { expect, test } from 'vitest'
import { ago, hourAndMinute, money, percent, sentence, short, timeOfDay, wait } from './words.js'

test.each([
  [null, '–'],
  [0, '0.0 s'],
  [-5, '0.0 s'],
  [440, '0.4 s'],
  [9949, '9.9 s'],
  [9950, '10 s'],
  [59_600, '1 min'],
  [200_000, '3 min 20 s'],
  [7_200_000, '2 h'],
])('a wait of %j ms is shown as %s', (ms, words) => {
  expect(wait(ms)).toBe(words)
})

test.each([
  [-1000, 'just now'],
  [1999, 'just now'],
  [12_345, '12 s ago'],
  [60_000, '1 min ago'],
  [3_540_000, '59 min ago'],
  [3_725_000, '1 h 2 min ago'],
])('a time %d ms ago is shown as %s', (ms, words) => {
  expect(ago(1_000_000, 1_000_000 + ms)).toBe(words)
})

test.each([
  [0, 'EUR', '€0.00'],
  [1234.5, 'EUR', '€1,234.50'],
  [0.004_21, 'USD', '$0.0042'],
  [2.345_67, 'points', '2.35 points'],
])('an amount of %d %s is shown as %s', (amount, currency, words) => {
  expect(money(amount, currency)).toBe(words)
})

test.each([
  [0, '0'],
  [0.25, '0.3'],
  [950, '950'],
  [1000, '1k'],
  [1249, '1.2k'],
  [9_960, '10k'],
  [100_000, '100k'],
  [999_600, '1M'],
  [3_400_000, '3.4M'],
])('the number %d is shown as %s', (number, words) => {
  expect(short(number)).toBe(words)
})

test('times of day have seconds or minutes, and shares are percentages', () => {
  const noon = new Date(2026, 0, 1, 12, 5, 9).getTime()
  expect([timeOfDay(noon), hourAndMinute(noon), percent(0.125)]).toEqual(['12:05:09', '12:05', '13 %'])
})

test.each([
  ['the queue is invalid', 'The queue is invalid.'],
  ['Really?', 'Really?'],
])('the message %j becomes the sentence %j', (message, words) => {
  expect(sentence(message)).toBe(words)
})
