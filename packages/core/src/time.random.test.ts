import { expect, test } from 'vitest'
import { seededRandom, systemRandom } from './time.js'

const draw = (random: () => number, count: number) => Array.from({ length: count }, random)

test('equal seeds give equal random sequences, and different seeds different sequences', () => {
  expect(draw(seededRandom(7), 100)).toEqual(draw(seededRandom(7), 100))
  expect(draw(seededRandom(7), 100)).not.toEqual(draw(seededRandom(8), 100))
})

test('random numbers, seeded or not, are at least 0 and below 1', () => {
  for (const random of [seededRandom(1), systemRandom]) {
    expect(draw(random, 10_000).filter((value) => !(value >= 0 && value < 1))).toEqual([])
  }
})

test('seeded random numbers are uniformly distributed', () => {
  const buckets = new Array<number>(10).fill(0)
  for (const value of draw(seededRandom(1), 100_000)) {
    const bucket = Math.floor(value * 10)
    buckets[bucket] = (buckets[bucket] as number) + 1
  }
  // 5 standard deviations
  expect(buckets.filter((count) => Math.abs(count - 10_000) > 480)).toEqual([])
})
