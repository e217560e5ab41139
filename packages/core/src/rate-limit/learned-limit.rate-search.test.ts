import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRateSearch } from './learned-limit.js'

/**
 * Sends at the full rate to a service that allows `allowed` requests per second. Each refusal is reported once, and
 * pauses for a second.
 */
function run(rate: ReturnType<typeof createRateSearch>, allowed: (second: number) => number, seconds: number) {
  const rates: number[] = []
  let refused = 0
  rate.lower(0, 1000)
  for (let second = 1; second <= seconds; second += 1) {
    const now = second * 1000
    rates.push(rate.at(now))
    rate.taken?.(now, 0)
    const over = Math.floor(rates.at(-1) as number) - allowed(second)
    if (over <= 0) continue
    refused += over
    rate.lower(now + 20, now + 1020)
    second += 1
  }
  return { rates, refused }
}

test('the search for a rate limit begins at the accepted rate, and returns to this rate after a refusal', () => {
  const { rates, refused } = run(createRateSearch(20, 1000), () => 20, 20)
  expect(rates.slice(0, 4)).toEqual([20, 20, 20, 22])
  expect(rates.slice(5)).toEqual(rates.slice(5).map(() => 20))
  expect(refused).toBe(2)
})

test('the search for a rate limit starts by doubling the rate if no rate was accepted before', () => {
  const { rates } = run(createRateSearch(0, 1000), () => 1000, 12)
  expect(rates.filter((rate, n) => rate !== rates[n - 1]).slice(0, 5)).toEqual([1, 2, 4, 8, 16])
})

test('the search for a rate limit retries a refused rate after 30 s, and then after twice as long each time', () => {
  const { rates, refused } = run(createRateSearch(20, 1000), () => 20, 600)
  expect(refused).toBeLessThanOrEqual(2 * 6)
  const tries = rates.flatMap((rate, second) => (rate > 20 ? [second] : []))
  expect(tries.slice(1).map((second, index) => second - (tries[index] ?? 0))).toEqual([32, 62, 122, 242])
})

test('property: the rate search ends between 65 % and 120 % of any limit, with few refusals', () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 400 }), fc.integer({ min: 0, max: 400 }), (limit, accepted) => {
      const { rates, refused } = run(createRateSearch(Math.min(accepted, limit), 1000), () => limit, 200)
      const found = rates.at(-1) as number
      expect(found).toBeLessThan(limit * 1.2)
      expect(found).toBeGreaterThan(limit * 0.65)
      expect(refused).toBeLessThan(0.03 * 200 * limit)
    }),
  )
})
