import { expect, test } from 'vitest'
import { createDemand } from './demand.js'
import { stockFor } from './stock-size.js'

const goal = { hit: 0.95, maxIdleShare: 0.1, max: 1000 }

/** Returns the number of wanted warm servers after matches at these seconds from the start. */
function wantedAfter(seconds: readonly number[], now: number): number {
  const demand = createDemand(0)
  for (const second of seconds) demand.arrived(second * 1000)
  const [rate, steadyRate] = [demand.rate(now * 1000), demand.steadyRate(now * 1000)]
  const place = { rate, steadyRate, bootSeconds: demand.bootSeconds(), matchSeconds: demand.matchSeconds() }
  return stockFor(place, goal)
}

test('the first matches of a pool at a place do not count as a sudden rise of demand', () => {
  expect(wantedAfter([0], 0)).toBe(0)
  expect(wantedAfter([1], 1)).toBe(0)
  expect(wantedAfter([0, 10], 10)).toBeLessThanOrEqual(3)
})

test('a sudden rise of matches in a pool is detected within two minutes', () => {
  const everyTwoSeconds = Array.from({ length: 60 }, (_, index) => 2 * index)
  const load = { rate: 0.5, bootSeconds: 20, matchSeconds: 900 }
  expect(wantedAfter(everyTwoSeconds, 120)).toBeGreaterThanOrEqual(stockFor(load, goal))
})
