import { expect, test, vi } from 'vitest'
import type { Limiter, Permit } from './limiter-types.js'
import { failure, never, request, settle, setUp } from './scheduler.fixture.js'
import type { Scheduler } from './scheduler.js'

type Answer = Permit | number

function setUpLater() {
  const asked: { resolve(answer: Answer): void; reject(error: unknown): void }[] = []
  const permits = { taken: 0, released: 0 }
  const limiter: Limiter = {
    reserve: () => new Promise<Answer>((resolve, reject) => asked.push({ resolve, reject })),
    throttled: vi.fn<Limiter['throttled']>(),
    inspect: () => ({ tokens: 0, rate: 1 }),
  }
  const permit = (): Permit => {
    permits.taken += 1
    return {
      written: () => {},
      answered: () => {},
      release: () => {
        permits.released += 1
      },
    }
  }
  return { ...setUp({ limiter }), asked, permits, permit, limiter }
}

test('a shared limiter gives one permit at a time, which goes to the call of the highest priority', async () => {
  const { clock, scheduler, asked, permit } = setUpLater()
  const starts: string[] = []
  void scheduler.run(request(clock, starts, 'a'))
  void scheduler.run(request(clock, starts, 'b'), { priority: 1 })
  expect(asked).toHaveLength(1)
  asked[0]?.resolve(permit())
  await settle(clock)
  expect(starts).toEqual(['b at 0'])
  expect(asked).toHaveLength(2)
  asked[1]?.resolve(70)
  await clock.advance(69)
  expect(asked).toHaveLength(2)
  await clock.advance(1)
  expect(asked).toHaveLength(3)
})

test('a shared limiter gets back a permit for which no call waits any more', async () => {
  const { clock, scheduler, asked, permits, permit } = setUpLater()
  const abort = new AbortController()
  const aborted = failure(scheduler.run(never, { signal: abort.signal }))
  abort.abort('enough')
  expect(await aborted).toBe('enough')
  asked[0]?.resolve(permit())
  await settle(clock)
  expect(permits).toEqual({ taken: 1, released: 1 })
  expect(clock.sleepers).toBe(0)
})

test('a shared limiter gets back a permit granted during a pause, and is called again afterwards', async () => {
  const { clock, scheduler, asked, permits, permit, limiter } = setUpLater()
  const starts: string[] = []
  void scheduler.run(request(clock, starts, 'a'))
  scheduler.throttled(500)
  expect(limiter.throttled).toHaveBeenCalledWith(0, 500)
  asked[0]?.resolve(permit())
  await clock.advance(500)
  expect(permits.released).toBe(1)
  asked[1]?.resolve(permit())
  await settle(clock)
  expect(starts).toEqual(['a at 500'])
})

test('a shared limiter that rejects fails only the next call', async () => {
  const { clock, scheduler, asked, permit } = setUpLater()
  const starts: string[] = []
  const first = failure(scheduler.run(request(clock, starts, 'a')))
  const second = scheduler.run(request(clock, starts, 'b'))
  asked[0]?.reject(new Error('store is down'))
  expect(await first).toEqual(new Error('store is down'))
  asked[1]?.resolve(permit())
  await clock.advance(10)
  expect(await second).toBe('b')
})

test('a shared limiter that throws fails only the next call', async () => {
  const limiter: Limiter = {
    reserve: () => {
      throw new Error('store is down')
    },
    throttled: () => {},
    inspect: () => ({ tokens: 0, rate: 1 }),
  }
  const { scheduler } = setUp({ limiter })
  const calls: ReturnType<Scheduler['run']>[] = [scheduler.run(never), scheduler.run(never)]
  for (const call of calls) await expect(call).rejects.toThrow('store is down')
})
