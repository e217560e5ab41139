import type { Operation, RateLimit } from '@muster/core/api'

/** Counts the requests of one limit. Times are milliseconds that never decrease. Rejected requests do not count. */
export interface Limiter {
  /** Counts a request and returns 0, or rejects the request and returns the milliseconds until one could pass. */
  take(now: number): number
}

/** A fixed window: at most `limit` requests per window. Windows are consecutive, starting at the epoch. */
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

/** A sliding log, the strictest reading of a limit: never more than `limit` requests in any period of `windowMs`. */
export function slidingLog({ limit, windowMs }: RateLimit): Limiter {
  // A ring buffer of the times of the latest `limit` requests; the next entry to overwrite is the oldest.
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
 * A token bucket: it holds `limit` tokens and refills evenly within `windowMs`. After a pause, a full burst passes,
 * then requests at the even rate.
 */
export function tokenBucket({ limit, windowMs }: RateLimit): Limiter {
  const msPerToken = windowMs / limit
  // The time at which the bucket is full; each token taken delays it by the time in which one token is refilled.
  let fullAt = -Infinity
  return {
    take: (now) => {
      const after = Math.max(fullAt, now) + msPerToken
      const wait = after - now - windowMs
      // Sums of fractions have rounding errors far below any clock's resolution.
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
     * Counts a request. Returns 0 if it may pass (always without a documented limit); otherwise the milliseconds to
     * wait.
     */
    take: ({ limit }: Operation, now: number): number => {
      if (limit === undefined) return 0
      const limiter = limiters.get(limit.name) ?? algorithms[algorithm](limit)
      limiters.set(limit.name, limiter)
      return limiter.take(now)
    },
  }
}
