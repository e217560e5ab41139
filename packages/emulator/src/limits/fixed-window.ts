import type { RateLimit } from '@muster/core/api'
import type { Limiter } from './limiter.js'

/** A fixed window: at most `limit` requests per window. Windows follow one another from the epoch on. */
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
