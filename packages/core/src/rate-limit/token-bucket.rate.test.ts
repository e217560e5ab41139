import { expect, test } from 'vitest'
import { createRate } from './token-bucket.js'

test('the bucket rate begins to recover one window later if there was no pause', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 0)
  expect([1000, 2000].map(rate.at)).toEqual([28, 30])
})

test('the bucket rate falls once for calls in flight together; a later pause only delays recovery', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 500)
  rate.lower(10, 3000)
  rate.lower(999, 1200)
  expect([1000, 3000, 4000].map(rate.at)).toEqual([28, 28, 30])
})

test('the bucket rate falls again on the next 429, down to a tenth', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 0)
  rate.lower(2000, 2000)
  expect(rate.at(2000)).toBeCloseTo(21)
  for (let at = 3000; at < 30_000; at += 1000) rate.lower(at, at)
  expect(rate.at(30_000)).toBeCloseTo(4)
})
