import type { Operation } from '@muster/core/api'
import { fixedWindow } from './fixed-window.js'
import type { Limiter } from './limiter.js'
import { slidingLog } from './sliding-log.js'
import { tokenBucket } from './token-bucket.js'

export const algorithms = {
  'sliding log': slidingLog,
  'fixed window': fixedWindow,
  'token bucket': tokenBucket,
} as const

export type LimitAlgorithm = keyof typeof algorithms

/** The documented rate limits, as one service enforces them. */
export interface RateLimits {
  /**
   * Counts a request. Returns 0 if it may pass (always for an operation without a documented limit), else the
   * milliseconds to wait.
   */
  take(operation: Operation, now: number): number
}

export function createRateLimits(algorithm: LimitAlgorithm): RateLimits {
  const limiters = new Map<string, Limiter>()
  return {
    take: ({ limit }, now) => {
      if (limit === undefined) return 0
      let limiter = limiters.get(limit.name)
      if (limiter === undefined) {
        limiter = algorithms[algorithm](limit)
        limiters.set(limit.name, limiter)
      }
      return limiter.take(now)
    },
  }
}
