import { createManualClock, dateOf } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createStoreClock } from './store-clock.js'

/** Opens a store whose clock is ahead and whose replies take time. */
function open({ aheadMs = 0, travelMs = 0 } = {}) {
  const clock = createManualClock()
  const store = { aheadMs, travelMs }
  const differences: number[] = []
  const storeClock = createStoreClock({
    store: {
      time: async () => {
        await clock.sleep(store.travelMs)
        const time = Math.floor(clock.now() + store.aheadMs)
        await clock.sleep(store.travelMs)
        return time
      },
    },
    clock,
    differs: (offsetMs) => differences.push(offsetMs),
  })
  const measure = () => clock.until(storeClock.measure())
  const error = () => storeClock.now() - (clock.now() + store.aheadMs)
  return { clock, store, storeClock, differences, measure, error }
}

test('the store clock shows the time of the store immediately, and reports a large difference once', async () => {
  const { storeClock, differences, measure, error } = open({ aheadMs: -600_000, travelMs: 10 })
  await measure()
  expect(Math.abs(error())).toBeLessThanOrEqual(20)
  await measure()
  expect(differences).toEqual([storeClock.offsetMs()])
})

test('the store clock equals the process clock if both agree, to the fraction of a millisecond', async () => {
  const { clock, storeClock, differences, measure } = open({ travelMs: 3 })
  await measure()
  expect(storeClock.now()).toBe(clock.now())
  expect(differences).toEqual([])
})

test('the store clock corrects a step of the store by 0.1 s per second, and never goes back', async () => {
  const { clock, store, storeClock, differences, measure, error } = open()
  await measure()
  for (const stepMs of [60_000, -60_000]) {
    store.aheadMs += stepMs
    for (let passed = 0; passed < 300_000; passed += 5000) {
      const [before, at] = [storeClock.now(), clock.now()]
      await measure()
      await clock.advance(5000)
      const [elapsed, real] = [storeClock.now() - before, clock.now() - at]
      expect(Math.abs(elapsed - real)).toBeLessThanOrEqual(0.1 * real + 1)
    }
    expect(Math.abs(error())).toBeGreaterThan(20_000)
    for (let passed = 0; passed < 310_000; passed += 5000) {
      await measure()
      await clock.advance(5000)
    }
    expect(Math.abs(error())).toBeLessThanOrEqual(1)
  }
  expect(differences.map((offsetMs) => Math.round(offsetMs / 1000))).toEqual([60, 0])
})

test('the store clock, once caught up, differs from the store by at most the time of an answer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.array(fc.record({ travelMs: fc.nat(2000), stepMs: fc.integer({ min: -3000, max: 3000 }) }), {
        maxLength: 30,
        size: 'max',
      }),
      async (aheadMs, steps) => {
        const { clock, store, storeClock, measure, error } = open({ aheadMs })
        await measure()
        for (const { travelMs, stepMs } of steps) {
          store.travelMs = travelMs
          store.aheadMs += stepMs
          const before = storeClock.now()
          await measure()
          expect(storeClock.now()).toBeGreaterThanOrEqual(before)
          await clock.advance(60_000)
          expect(Math.abs(error())).toBeLessThanOrEqual(2 * travelMs + 1)
        }
      },
    ),
    { numRuns: 50 },
  )
})

test('dates follow a step of the store’s clock at once, and waits by 0.1 s per second', async () => {
  const { clock, store, storeClock, measure, error } = open()
  await measure()
  expect(storeClock.wallStepMs()).toBe(0)
  for (const stepMs of [3_600_000, -7_200_000]) {
    store.aheadMs += stepMs
    await measure()
    expect(Math.abs(error())).toBeGreaterThan(3_000_000)
    expect(Math.abs(dateOf(storeClock) - (clock.now() + store.aheadMs))).toBeLessThanOrEqual(1)
  }
})
