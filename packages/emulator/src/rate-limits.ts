import type { Operation, RateLimit } from '@muster/core/api'

/** Counts the requests of one limit. Rejected requests are not counted. Times are milliseconds that never decrease. */
export interface Limiter {
  /**
   * Counts a request and returns 0. If the limit is reached, rejects the request and returns the milliseconds until one
   * could pass.
   */
  take(now: number): number
}

/** Creates a fixed window: at most `limit` requests in each window. Windows are consecutive, beginning at the epoch. */
export function fixedWindow({ limit, windowMs }: RateLimit): Limiter {
  let current = -Infinity
  let count = 0
  return {
    take: (now) => {
      const window = Math.floor(now / windowMs)
      if (window !== current) {
        current = window
        count = 0
      }
      if (count === limit) return (window + 1) * windowMs - now
      count++
      return 0
    },
  }
}

/** Creates a sliding log, the strictest reading of a limit: at most `limit` requests in any period of `windowMs`. */
export function slidingLog({ limit, windowMs }: RateLimit): Limiter {
  // A ring buffer with the times of the latest `limit` requests. The entry that is overwritten next is the oldest.
  const times = new Array<number>(limit).fill(-Infinity)
  let next = 0
  return {
    take: (now) => {
      const free = (times[next] as number) + windowMs
      if (now < free) return free - now
      times[next] = now
      next = (next + 1) % limit
      return 0
    },
  }
}

/**
 * Creates a token bucket. It holds `limit` tokens and refills evenly within `windowMs`. After a pause a full burst
 * passes, then requests at the even rate.
 */
export function tokenBucket({ limit, windowMs }: RateLimit): Limiter {
  const msPerToken = windowMs / limit
  // The time at which the bucket is full. Each token that is taken delays it by the time in which one token is
  // refilled.
  let fullAt = -Infinity
  return {
    take: (now) => {
      const after = Math.max(fullAt, now) + msPerToken
      const wait = after - now - windowMs
      // Waits below this are rounding errors of summed fractions, far below the resolution of any clock.
      if (wait > 1e-6) return wait
      fullAt = after
      return 0
    },
  }
}

export const algorithms = {
  'sliding log': slidingLog,
  'fixed window': fixedWindow,
  'token bucket': tokenBucket,
} as const

export type LimitAlgorithm = keyof typeof algorithms

/** The documented rate limits, as one service enforces them. */
export type RateLimits = ReturnType<typeof createRateLimits>

export function createRateLimits(algorithm: LimitAlgorithm) {
  const limiters = new Map<string, Limiter>()
  return {
    /**
     * Counts a request. Returns 0 if it may pass, which it always may without a documented limit. Otherwise returns the
     * milliseconds to wait.
     */
    take: ({ limit }: Operation, now: number): number => {
      if (limit === undefined) return 0
      const limiter = limiters.get(limit.name) ?? algorithms[algorithm](limit)
      limiters.set(limit.name, limiter)
      return limiter.take(now)
    },
  }
}
