import { createBucket, Scheduler, type CallSlot } from '@muster/core/internal'
import { systemClock } from '@muster/core/clock'
import Bottleneck from 'bottleneck'
import { RateLimiter } from 'limiter'
import PQueue from 'p-queue'
import pThrottle from 'p-throttle'

/** Runs a request once it may start. Only Muster's scheduler uses the time at which the request was written. */
export type Limited = (request: (slot: Pick<CallSlot, 'written'>) => Promise<void>) => Promise<unknown>

const unheard = { written: () => {} }

/**
 * The compared limiters, each set to `limit` per second. Bottleneck limits by the time between starts (`minTime`),
 * which is faster here than its `reservoir`.
 */
export const contenders: Record<string, (limit: number) => Limited> = {
  muster: (limit) => {
    const scheduler = new Scheduler({
      clock: systemClock,
      limiter: createBucket({ limit, windowMs: 1000 }),
      maxInFlight: Number.POSITIVE_INFINITY,
    })
    return (request) => scheduler.run(request)
  },
  bottleneck: (limit) => {
    const bottleneck = new Bottleneck({ minTime: 1000 / limit })
    return (request) => bottleneck.schedule(() => request(unheard))
  },
  'p-throttle': (limit) => {
    const throttled = pThrottle({ limit, interval: 1000 })((request: Parameters<Limited>[0]) => request(unheard))
    return (request) => throttled(request)
  },
  'p-throttle, strict': (limit) => {
    const throttled = pThrottle({ limit, interval: 1000, strict: true })((request: Parameters<Limited>[0]) =>
      request(unheard),
    )
    return (request) => throttled(request)
  },
  limiter: (limit) => {
    const limiter = new RateLimiter({ tokensPerInterval: limit, interval: 'second' })
    return async (request) => {
      await limiter.removeTokens(1)
      await request(unheard)
    }
  },
  'p-queue': (limit) => {
    const queue = new PQueue({ intervalCap: limit, interval: 1000 })
    return (request) => queue.add(() => request(unheard))
  },
  'p-queue, strict': (limit) => {
    const queue = new PQueue({ intervalCap: limit, interval: 1000, strict: true })
    return (request) => queue.add(() => request(unheard))
  },
}
