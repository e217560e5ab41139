import type { RateLimit } from '@muster/core/api'
import type { Limiter } from './limiter.js'

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
