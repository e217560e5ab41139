import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createWallStep } from './runtime/wall-step.js'
import { createManualClock, dateOf, systemClock } from './time.js'

test('the system clock gives epoch milliseconds that never go backwards', () => {
  const times = Array.from({ length: 1000 }, () => systemClock.now())
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(new Date(times[0] as number).getFullYear()).toBeGreaterThanOrEqual(2024)
})

test('a sleep of the system clock lasts at least the requested time', async () => {
  for (const ms of [0.2, 1.5, 5.9, 20]) {
    const before = performance.now()
    await systemClock.sleep(ms)
    expect(performance.now() - before).toBeGreaterThanOrEqual(ms)
  }
})

test('an abort ends a sleep of the system clock of any length, which rejects with the abort reason', async () => {
  const abort = new AbortController()
  const nap = systemClock.sleep(2 ** 40, abort.signal)
  abort.abort(new Error('enough'))
  await expect(nap).rejects.toThrow('enough')
  await expect(systemClock.sleep(0, abort.signal)).rejects.toThrow('enough')
})

test('a sleep of the system clock for zero or a negative time ends at once', async () => {
  let woken = false
  const nap = systemClock.sleep(-5).then(() => (woken = true))
  expect(woken).toBe(false)
  await nap
  expect(woken).toBe(true)
})

test('dateOf(systemClock) is within 500 ms of Date.now()', () => {
  expect(Math.abs(dateOf(systemClock) - Date.now())).toBeLessThan(500)
})

test('a step of the wall clock is detected at the next reading, and the offset then stays (property)', () => {
  const step = fc.oneof(fc.integer({ min: 300, max: 1e11 }), fc.integer({ min: -1e11, max: -300 }))
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.integer({ min: 0, max: 100_000 })), { maxLength: 10 }), (steps) => {
      let [monotonic, setBy] = [1_700_000_000_000.25, 0]
      const wallStep = createWallStep(
        () => Math.trunc(monotonic + setBy),
        () => monotonic,
      )
      expect(wallStep.read()).toBe(0)
      for (const [by, passed] of steps) {
        setBy += by
        monotonic += passed / 7
        const found = wallStep.read()
        expect(Math.abs(found - setBy)).toBeLessThanOrEqual(250)
        monotonic += passed
        expect(wallStep.read()).toBe(found)
      }
    }),
  )
})

test('an interruption between reading the two clocks does not count as a step of the wall clock', () => {
  let readings = 0
  const wallStep = createWallStep(
    () => 1000,
    () => ((readings += 1) % 3 === 1 ? 10_000 : 1000),
  )
  expect([1, 2, 3, 4].map(() => wallStep.read())).toEqual([0, 0, 0, 0])
})

test('a step of a manual clock changes its dates and wakes no sleeper', async () => {
  const clock = createManualClock({ start: 1000 })
  const nap = clock.sleep(500)
  clock.step(3_600_000)
  expect([clock.now(), dateOf(clock), dateOf(clock, 2000)]).toEqual([1000, 3_601_000, 3_602_000])
  expect(clock.sleepers).toBe(1)
  await clock.advance(500)
  await nap
})
