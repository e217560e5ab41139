import type { RateLimit } from '@muster/core/api'
import type { Limiter } from './limiter.js'

/** The strictest reading of a limit: never more than `limit` requests in any `windowMs`, wherever the window begins. */
export function slidingLog({ limit, windowMs }: RateLimit): Limiter {
  // A ring of the latest `limit` requests; the entry that is next to be overwritten is the oldest.
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
