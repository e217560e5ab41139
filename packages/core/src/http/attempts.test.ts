import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { createAttempts, createMemoryLimitStore } from './attempts.js'

test('attempts up to the limit are allowed at once, and further attempts one at a time at the rate', async () => {
  const clock = createManualClock()
  const attempts = createAttempts({ limit: 3, windowMs: 3000, clock })
  expect([1, 2, 3].map(() => attempts.take('a'))).toEqual([0, 0, 0])
  expect(attempts.take('a')).toBeCloseTo(1000, 1)
  expect(attempts.take('b')).toBe(0)
  await clock.advance(1000)
  expect(attempts.take('a')).toBe(0)
  expect(attempts.take('a')).toBeCloseTo(1000, 1)
})

test('giveBack cancels an attempt, so that it does not count against the limit, and allows no further attempts', () => {
  const attempts = createAttempts({ limit: 1, windowMs: 1000, clock: createManualClock() })
  expect(attempts.take('a')).toBe(0)
  for (let turn = 0; turn < 3; turn += 1) attempts.giveBack('a')
  expect(attempts.take('a')).toBe(0)
  expect(attempts.take('a')).toBeGreaterThan(0)
})

test('wait() does not count as an attempt, and charge() counts as one even beyond the limit', async () => {
  const clock = createManualClock()
  const attempts = createAttempts({ limit: 2, windowMs: 2000, clock })
  expect([attempts.wait('a'), attempts.wait('a'), attempts.wait('a')]).toEqual([0, 0, 0])
  for (let failure = 0; failure < 3; failure += 1) attempts.charge('a')
  expect(attempts.wait('a')).toBeCloseTo(2000, 1)
  await clock.advance(1999)
  expect(attempts.take('a')).toBeCloseTo(1, 1)
  await clock.advance(1)
  expect(attempts.take('a')).toBe(0)
})

test('after a thousand charge() calls at a limit of 2 in 2 s, the next attempt is allowed after 3 s', async () => {
  const clock = createManualClock()
  const attempts = createAttempts({ limit: 2, windowMs: 2000, clock })
  for (let failure = 0; failure < 1000; failure += 1) attempts.charge('a')
  expect(attempts.wait('a')).toBeCloseTo(3000, 1)
  await clock.advance(3000)
  expect(attempts.take('a')).toBe(0)
})

test('beyond maxKeys keys, the attempts of the oldest key are forgotten', () => {
  const attempts = createAttempts({ limit: 1, windowMs: 1000, clock: createManualClock(), maxKeys: 2 })
  for (const key of ['a', 'b', 'c']) attempts.take(key)
  expect(attempts.take('c')).toBeGreaterThan(0)
  expect(attempts.take('a')).toBe(0)
})

test('no window has more than twice the limit of attempts, and the average stays within the limit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 40, size: 'max' }),
      async (limit, pauses) => {
        const clock = createManualClock({ start: 0 })
        const attempts = createAttempts({ limit, windowMs: 1000, clock })
        const taken: number[] = []
        for (const pause of pauses) {
          await clock.advance(pause)
          const waitMs = attempts.take('a')
          if (waitMs === 0) taken.push(clock.now())
          else {
            await clock.advance(waitMs)
            expect(attempts.take('a')).toBe(0)
            taken.push(clock.now())
          }
        }
        for (const from of taken)
          expect(taken.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(2 * limit)
        const first = taken[0] ?? 0
        const span = (taken.at(-1) ?? 0) - first
        expect(taken.length).toBeLessThanOrEqual(limit + 0.01 + (span * limit) / 1000 + 1)
      },
    ),
    { numRuns: 20 },
  )
})

test.each([
  ['limit', Number.NaN, 1000],
  ['limit', 0, 1000],
  ['limit', Infinity, 1000],
  ['windowMs', 1, 0],
  ['windowMs', 1, Number.NaN],
])('createAttempts refuses a wrong %s (%d per %d ms) by name', (name, limit, windowMs) => {
  expect(() => createAttempts({ limit, windowMs, clock: createManualClock() })).toThrow(
    new RegExp(`option ${name} must be .*, got `),
  )
})

test('a limiter opened again under the same name keeps its counted attempts, even with another limit', async () => {
  const clock = createManualClock()
  const store = createMemoryLimitStore(clock)
  const minute = { limit: 2, windowMs: 60_000 }
  for (let attempt = 0; attempt < 2; attempt += 1) expect(store.attempts('a', minute).take('ann')).toBe(0)
  expect(store.attempts('a', minute).take('ann')).toBeCloseTo(30_000, 1)
  expect(store.attempts('b', minute).take('ann')).toBe(0)
  // With a window of a second, nobody waits longer than their own attempts require.
  expect(store.attempts('a', { limit: 2, windowMs: 1000 }).wait('ann')).toBeCloseTo(1500, 1)
  expect(store.attempts('a', { limit: 4, windowMs: 60_000 }).wait('ann')).toBeCloseTo(15_000, 1)
})
