import { expect, test } from 'vitest'
import { createRate } from './rate.js'

test('full until a 429 comes', () => {
  expect(createRate(40, 1000).at(0)).toBe(40)
})

test('a 429 leaves 70 %, and each window after the pause gives 5 % of the full rate back', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 5000)
  expect([0, 5000, 6000, 8000, 11_000, 60_000].map(rate.at)).toEqual([28, 28, 30, 34, 40, 40])
})

test('without a pause it recovers a window later', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 0)
  expect([1000, 2000].map(rate.at)).toEqual([28, 30])
})

test('those that were in flight together count once; a later pause only puts recovery off', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 500)
  rate.lower(10, 3000)
  rate.lower(999, 1200)
  expect([1000, 3000, 4000].map(rate.at)).toEqual([28, 28, 30])
})

test('the next one lowers what has recovered, down to a tenth', () => {
  const rate = createRate(40, 1000)
  rate.lower(0, 0)
  rate.lower(2000, 2000)
  expect(rate.at(2000)).toBeCloseTo(21)
  for (let at = 3000; at < 30_000; at += 1000) rate.lower(at, at)
  expect(rate.at(30_000)).toBeCloseTo(4)
})
