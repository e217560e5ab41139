import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { createBucket } from './token-bucket.js'
import { failure, never, perSecond, request, settle, setUp } from './scheduler.fixture.js'

describe('the order of the scheduler', () => {
  test('the scheduler starts calls in the order of arrival, as tokens return', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(2) })
    const starts: string[] = []
    const results = Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => scheduler.run(request(clock, starts, name))))
    await clock.advance(3000)
    // Each request is answered after 10 ms, so its token is free one second after that.
    expect(starts).toEqual(['a at 0', 'b at 0', 'c at 1010', 'd at 1010', 'e at 2020'])
    expect(await results).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('the scheduler starts a call of higher priority before all calls that already wait', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    const starts: string[] = []
    for (const name of ['a', 'b', 'c']) void scheduler.run(request(clock, starts, name))
    await clock.advance(1009)
    void scheduler.run(request(clock, starts, 'urgent'), { priority: 1 })
    await clock.advance(3000)
    expect(starts).toEqual(['a at 0', 'urgent at 1010', 'b at 2020', 'c at 3030'])
  })

  test('the scheduler always starts the first waiting call of the highest priority', async () => {
    const calls = fc.array(
      fc.record({ afterMs: fc.integer({ min: 0, max: 900 }), priority: fc.integer({ min: -2, max: 2 }) }),
      { maxLength: 40 },
    )
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        async (all, limit, maxInFlight) => {
          const { clock, scheduler } = setUp({ limiter: perSecond(limit), maxInFlight })
          const waiting: { priority: number; arrival: number }[] = []
          const passedOver: unknown[] = []
          let started = 0
          for (const [arrival, { afterMs, priority }] of all.entries()) {
            await clock.advance(afterMs)
            const call = { priority, arrival }
            waiting.push(call)
            void scheduler.run(
              async (slot) => {
                slot.written()
                waiting.splice(waiting.indexOf(call), 1)
                started += 1
                passedOver.push(
                  ...waiting.filter(
                    (other) => other.priority > priority || (other.priority === priority && other.arrival < arrival),
                  ),
                )
                await clock.sleep(700)
              },
              { priority },
            )
          }
          await clock.advance(60_000)
          expect(started).toBe(all.length)
          expect(passedOver).toEqual([])
          await scheduler.onIdle()
        },
      ),
      { numRuns: 40 },
    )
  })

  test('the scheduler refuses a priority that is not a number', async () => {
    const { scheduler } = setUp()
    await expect(scheduler.run(never, { priority: Number.NaN })).rejects.toThrow(
      'priority must be a finite number, not NaN',
    )
  })
})

describe('aborting a call in the scheduler', () => {
  test('aborting a waiting call rejects it at once, frees its place and costs no token', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    const starts: string[] = []
    const abort = new AbortController()
    void scheduler.run(request(clock, starts, 'a'))
    const aborted = failure(scheduler.run(request(clock, starts, 'b'), { signal: abort.signal }))
    void scheduler.run(request(clock, starts, 'c'))
    await settle(clock)
    abort.abort('enough')
    expect(await aborted).toBe('enough')
    expect(scheduler.state.queued).toBe(1)
    await clock.advance(2000)
    expect(starts).toEqual(['a at 0', 'c at 1010'])
  })

  test('aborting a running call rejects it at once, though its job continues', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    const abort = new AbortController()
    const aborted = failure(scheduler.run(never, { signal: abort.signal }))
    await settle(clock)
    abort.abort('enough')
    expect(await aborted).toBe('enough')
  })

  test('a call aborted before the scheduler starts it is rejected without a start', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    const job = vi.fn<() => Promise<never>>(never)
    await expect(scheduler.run(job, { signal: AbortSignal.abort('enough') })).rejects.toBe('enough')
    expect(job).not.toHaveBeenCalled()
    expect(scheduler.state.tokens).toBe(1)
    expect(clock.sleepers).toBe(0)
  })

  test('aborting the last waiting call leaves no timer in the scheduler', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    const abort = new AbortController()
    await scheduler.run(async () => {})
    const aborted = failure(scheduler.run(never, { signal: abort.signal }))
    await settle(clock)
    expect(clock.sleepers).toBe(1)
    abort.abort('enough')
    expect(await aborted).toBe('enough')
    await settle(clock)
    expect(clock.sleepers).toBe(0)
    await scheduler.onIdle()
  })

  test('aborting a call that has a permit but waits for a running call returns the permit', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(2), maxInFlight: 1 })
    const abort = new AbortController()
    void scheduler.run(never)
    const aborted = failure(scheduler.run(never, { signal: abort.signal }))
    await settle(clock)
    expect(scheduler.state.tokens).toBe(0)
    abort.abort('enough')
    expect(await aborted).toBe('enough')
    expect(scheduler.state.tokens).toBe(1)
  })
})

describe('a permit', () => {
  test('a permit starts the next call at once if its request was never written', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    const starts: string[] = []
    const failed = failure(
      scheduler.run(async () => {
        await clock.sleep(300)
        throw new Error('no connection')
      }),
    )
    void scheduler.run(request(clock, starts, 'next'))
    await clock.advance(300)
    expect(await failed).toEqual(new Error('no connection'))
    expect(starts).toEqual(['next at 300'])
  })

  test('the permit of a request that was written and lost returns 250 ms and a window later', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    const starts: string[] = []
    const lost = scheduler.run(async (slot) => {
      slot.written()
      throw new Error('connection reset')
    })
    void scheduler.run(request(clock, starts, 'next'))
    await expect(lost).rejects.toThrow('connection reset')
    await clock.advance(2000)
    expect(starts).toEqual(['next at 1250'])
  })

  test('a permit returns sooner if the answer is reported before its body is read', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    const starts: string[] = []
    void scheduler.run(async (slot) => {
      slot.written()
      await clock.sleep(5)
      slot.answered()
      await clock.sleep(40)
    })
    void scheduler.run(request(clock, starts, 'next'))
    await clock.advance(2000)
    expect(starts).toEqual(['next at 1005'])
  })

  test('a permit is used up by a job that succeeds, even if it never reported a write', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    await scheduler.run(async () => {})
    expect(scheduler.state.tokens).toBe(0)
    await clock.advance(1000)
    expect(scheduler.state.tokens).toBe(1)
  })
})

describe('the bounds of the scheduler', () => {
  test('maxInFlight limits the running calls of the scheduler, with a limiter and without', async () => {
    for (const limiter of [undefined, perSecond(100)]) {
      const { clock, scheduler } = setUp({ limiter, maxInFlight: 3 })
      let most = 0
      const calls = Array.from({ length: 10 }, () =>
        scheduler.run(async () => {
          most = Math.max(most, scheduler.state.inFlight)
          await clock.sleep(10)
        }),
      )
      await clock.advance(100)
      await Promise.all(calls)
      expect(most).toBe(3)
    }
  })

  test('burst limits how many calls the scheduler starts together', async () => {
    const { clock, scheduler } = setUp({ limiter: createBucket({ limit: 10, windowMs: 1000, burst: 2 }) })
    const starts: string[] = []
    for (const name of 'abcde') void scheduler.run(request(clock, starts, name))
    await clock.advance(1000)
    expect(starts).toEqual(['a at 0', 'b at 0', 'c at 100', 'd at 200', 'e at 300'])
  })

  test('the scheduler has one timer while calls wait, and no timer otherwise', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(5) })
    const calls = Array.from({ length: 50 }, () => scheduler.run(async (slot) => slot.written()))
    let most = 0
    while (scheduler.state.queued > 0) {
      most = Math.max(most, clock.sleepers)
      await clock.next()
    }
    await Promise.all(calls)
    expect(most).toBe(1)
    expect(clock.sleepers).toBe(0)
  })

  test.each([
    [{ maxInFlight: 0 }, 'maxInFlight must be a whole number from 1, or Infinity, not 0'],
    [{ maxInFlight: 1.5 }, 'maxInFlight must be a whole number from 1, or Infinity, not 1.5'],
    [{ pauseMs: -1 }, 'pauseMs must be a number from 0, not -1'],
    [{ maxPauseMs: Number.NaN }, 'maxPauseMs must be a number from 0, not NaN'],
  ])('the scheduler refuses the options %o', (options, message) =>
    expect(() => setUp(options)).toThrow(new RangeError(message)),
  )
})

describe('the end of the scheduler', () => {
  test('onIdle of the scheduler waits for queued and running calls', async () => {
    const { clock, scheduler } = setUp({ limiter: perSecond(1) })
    await scheduler.onIdle()
    for (const name of 'ab') void scheduler.run(request(clock, [], name))
    const idle = vi.fn<() => void>()
    void scheduler.onIdle().then(idle)
    await clock.advance(1019)
    expect(idle).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(idle).toHaveBeenCalled()
  })

  test.each([undefined, perSecond(1)])(
    'close of the scheduler rejects waiting calls and lets running calls finish',
    async (limiter) => {
      const { clock, scheduler } = setUp({ limiter, maxInFlight: 1 })
      const starts: string[] = []
      const underWay = scheduler.run(request(clock, starts, 'a'))
      const waiting = ['b', 'c'].map((name) => failure(scheduler.run(request(clock, starts, name))))
      await settle(clock)
      const closed = scheduler.close('closing')
      expect(await Promise.all(waiting)).toEqual(['closing', 'closing'])
      expect(await failure(scheduler.run(never))).toBe('closing')
      expect(scheduler.state.inFlight).toBe(1)
      expect(clock.sleepers).toBe(1) // only the request in flight
      await clock.advance(10)
      expect(await underWay).toBe('a')
      await closed
      expect(starts).toEqual(['a at 0'])
    },
  )
})
