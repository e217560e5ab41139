import type { RateLimit } from '@muster/core/api'
import type { Limiter } from './limiter.js'

/**
 * A bucket of `limit` tokens that fills up evenly, all in `windowMs`: after a pause a full burst passes, then the even
 * rate.
 */
export function tokenBucket({ limit, windowMs }: RateLimit): Limiter {
  const msPerToken = windowMs / limit
  // When the bucket will be (or was) full; each token taken puts it off by the time that a token takes.
  let fullAt = -Infinity
  return {
    take: (now) => {
      const after = Math.max(fullAt, now) + msPerToken
      const wait = after - now - windowMs
      // Additions of fractions leave errors far below any clock's resolution.
      if (wait > 1e-6) return wait
      fullAt = after
      return 0
    },
  }
}
