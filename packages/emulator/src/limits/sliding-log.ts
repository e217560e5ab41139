import type { RateLimit } from '@muster/core/api'
import type { Limiter } from './limiter.js'

/**
 * A sliding log, the strictest reading of a limit: never more than `limit` requests in any `windowMs`, wherever it
 * begins.
 */
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
