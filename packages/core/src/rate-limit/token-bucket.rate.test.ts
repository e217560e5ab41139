import { expect, test } from 'vitest'
import { createRate } from './token-bucket.js'

test('is full until the first 429', () => {
  expect(createRate(40, 1000).at(0)).toBe(40)
})

test('falls to 70 % on a 429, and recovers by 5 % per window after the pause', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 5000)
  expect([0, 5000, 6000, 8000, 11_000, 60_000].map(rate.at)).toEqual([28, 28, 30, 34, 40, 40])
})

test('begins to recover a window later without a pause', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 0)
  expect([1000, 2000].map(rate.at)).toEqual([28, 30])
})

test('falls once for calls in flight together; a later pause only delays recovery', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 500)
  rate.lower(10, 3000)
  rate.lower(999, 1200)
  expect([1000, 3000, 4000].map(rate.at)).toEqual([28, 28, 30])
})

test('falls again on the next 429, down to a tenth', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 0)
  rate.lower(2000, 2000)
  expect(rate.at(2000)).toBeCloseTo(21)
  for (let at = 3000; at < 30_000; at += 1000) rate.lower(at, at)
  expect(rate.at(30_000)).toBeCloseTo(4)
})
