import { expect, test } from 'vitest'
import { createRate } from './token-bucket.js'

test('the rate of a token bucket starts to recover one window after a 429 without a pause', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 0)
  expect([1000, 2000].map(rate.at)).toEqual([28, 30])
})

test('concurrent 429s lower the rate of a token bucket once, even if one of them has a longer pause', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 500)
  rate.lower(10, 3000)
  rate.lower(999, 1200)
  expect([1000, 3000, 4000].map(rate.at)).toEqual([28, 28, 30])
})

test('the rate of a token bucket falls again on each later 429, down to a tenth of the limit', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 0)
  rate.lower(2000, 2000)
  expect(rate.at(2000)).toBeCloseTo(21)
  for (let at = 3000; at < 30_000; at += 1000) rate.lower(at, at)
  expect(rate.at(30_000)).toBeCloseTo(4)
})
