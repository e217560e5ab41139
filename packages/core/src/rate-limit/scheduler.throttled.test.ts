import fc from 'fast-check'
import { expect, test } from 'vitest'
import { perSecond, request, setUp } from './scheduler.fixture.js'
import type { CallSlot } from './scheduler.js'

test('a 429 pauses the whole queue for its Retry-After, and loses no call', async () => {
  const { clock, scheduler } = setUp({ limiter: perSecond(10) })
  const starts: string[] = []
  scheduler.throttled(5000)
  const calls = Promise.all(['a', 'b'].map((name) => scheduler.run(request(clock, starts, name))))
  expect(scheduler.state).toMatchObject({ queued: 2, inFlight: 0, pausedUntil: 5000 })
  await clock.advance(4999)
  expect(starts).toEqual([])
  await clock.advance(20)
  expect(starts).toEqual(['a at 5000', 'b at 5000'])
  expect(await calls).toEqual(['a', 'b'])
  expect(scheduler.state.pausedUntil).toBeUndefined()
})

test.each([
  ['for a window without Retry-After', undefined, 1000],
  ['for a window with a Retry-After of NaN', Number.NaN, 1000],
  ['for no longer than the cap', 3_600_000, 60_000],
  ['not at all for Retry-After 0', 0, 0],
])('a 429 pauses the calls of the scheduler %s', async (_case, retryAfterMs, pausedMs) => {
  const { clock, scheduler } = setUp({ limiter: perSecond(10) })
  const starts: string[] = []
  scheduler.throttled(retryAfterMs)
  void scheduler.run(request(clock, starts, 'a'))
  await clock.advance(100_000)
  expect(starts).toEqual([`a at ${pausedMs}`])
})

test('a shorter Retry-After does not shorten a longer pause of the scheduler', () => {
  const { scheduler } = setUp({ limiter: perSecond(10) })
  scheduler.throttled(5000)
  scheduler.throttled(100)
  expect(scheduler.state.pausedUntil).toBe(5000)
})

test('429s of concurrent calls lower the rate once, and the rate recovers', async () => {
  const { clock, scheduler } = setUp({ limiter: perSecond(10) })
  for (let refused = 0; refused < 5; refused += 1) scheduler.throttled(undefined)
  expect(scheduler.state.rate).toBeCloseTo(7)
  await clock.advance(1000 + 2000)
  expect(scheduler.state.rate).toBeCloseTo(8)
  await clock.advance(10_000)
  expect(scheduler.state.rate).toBe(10)
})

test('a 429 also pauses the calls of a scheduler without a limiter', async () => {
  const { clock, scheduler } = setUp()
  const starts: string[] = []
  void scheduler.run(request(clock, starts, 'a'))
  scheduler.throttled(200)
  void scheduler.run(request(clock, starts, 'b'))
  await clock.advance(1000)
  expect(starts).toEqual(['a at 0', 'b at 200'])
})

test('the scheduler loses no call, however many calls the server refuses with 429', async () => {
  const refusals = fc.array(
    fc.record({ refuse: fc.boolean(), retryAfterMs: fc.option(fc.integer({ min: 0, max: 3000 }), { nil: undefined }) }),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  await fc.assert(
    fc.asyncProperty(
      refusals,
      fc.integer({ min: 1, max: 25 }),
      fc.integer({ min: 1, max: 5 }),
      async (answers, count, limit) => {
        const { clock, scheduler } = setUp({ limiter: perSecond(limit) })
        let n = 0
        const attempt = async (slot: CallSlot) => {
          slot.written()
          await clock.sleep(20)
          slot.answered()
          const answer = answers[n++]
          if (answer?.refuse !== true) return true
          scheduler.throttled(answer.retryAfterMs)
          return false
        }
        const call = async () => {
          while (!(await scheduler.run(attempt)));
          return 'done'
        }
        const calls = Promise.all(Array.from({ length: count }, call))
        while (await clock.next());
        expect(await calls).toEqual(new Array(count).fill('done'))
        expect(scheduler.state).toMatchObject({ queued: 0, inFlight: 0 })
      },
    ),
    { numRuns: 30 },
  )
})
