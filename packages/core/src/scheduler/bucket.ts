// pure: the response-time token bucket; every time is passed in

import type { BoundChange } from './count-bound.js'
import type { LocalLimiter } from './limiter.js'
import { createPace } from './pace.js'
import { createRate } from './rate.js'
import { createTokens } from './tokens.js'

export interface BucketOptions {
  /** Requests the service accepts in any window, from all who use the account (service-api, Limits). A whole number. */
  readonly limit: number
  /** Length of the window, in milliseconds. */
  readonly windowMs: number
  /**
   * This process's part of the limit, more than 0 and at most 1; what it makes is rounded down to whole requests.
   * Default 1.
   */
  readonly share?: number | undefined
  /**
   * Most requests that may start at one moment; the following start evenly. A whole number. Default: all that the share
   * allows.
   */
  readonly burst?: number | undefined
  /**
   * Milliseconds by which a request may take longer to reach the service than the fastest request. Default 50. Used
   * only where most answers take longer, on used connections, while the event loop is on time (see `CountBound`).
   */
  readonly jitterMs?: number | undefined
  /** Called when the time changes after which a request is taken as counted without its answer; Infinity for never. */
  readonly boundChanged?: ((countedWithinMs: number, why: BoundChange) => void) | undefined
}

/**
 * Starts requests so that the *server* never counts more than the limit, be it over a sliding window, over
 * fixed windows or with a bucket of that size.
 *
 * A token comes back one window after the server can last have counted the request that used it: one window after its
 * answer. Why that is enough: a request answered at a was counted at c ≤ a. The next request on the same token is
 * written at a + window or later, and counted later still. On each token, then, counts are a window apart, and there
 * are no more tokens than the limit: nor over all processes, because shares are rounded down. Nothing is assumed of the
 * network, the server or this process: any of them may stand still for as long as it likes.
 *
 * The price is answer / (window + answer) of the rate: 2 % at 20 ms and one second, but half where answers take a
 * second. Most answers being slow, a request is therefore also taken as counted a bound after its writing, as far as
 * `CountBound` allows. Why that is enough: let D be the fastest way to the server. A request written at w is counted at
 * c ≤ w + D + bound. The next one on its token is written at w + bound + window or later, takes D or longer, and is
 * counted at c + window or later. This does assume that ways to the server differ by less than the bound.
 *
 * The bucket cannot know what another process sent in the window before this process began.
 *
 * @throws RangeError naming the option and the value.
 */
export function createBucket(options: BucketOptions): LocalLimiter {
  const { tokens, windowMs, burst, jitterMs, boundChanged } = validated(options)
  const pace = burst < tokens ? createPace(burst) : undefined
  return createTokens({ rate: createRate(tokens, windowMs), windowMs, jitterMs, pace, boundChanged })
}

/** Rounding tolerance: shares such as 0.1 × 30 come out slightly below the whole number. Too small to add a request. */
const ROUNDING = 1e-9

function validated({ limit, windowMs, share = 1, burst, jitterMs = 50, boundChanged }: BucketOptions) {
  const check = (holds: boolean, option: string, value: unknown, wanted: string) => {
    if (!holds) throw new RangeError(`${option} must be ${wanted}, not ${String(value)}`)
  }
  check(Number.isInteger(limit) && limit >= 1, 'limit', limit, 'a whole number from 1')
  check(Number.isFinite(windowMs) && windowMs > 0, 'windowMs', windowMs, 'a number above 0')
  check(share > 0 && share <= 1, 'share', share, 'a number above 0 and up to 1')
  check(burst === undefined || (Number.isInteger(burst) && burst >= 1), 'burst', burst, 'a whole number from 1')
  check(Number.isFinite(jitterMs) && jitterMs >= 0, 'jitterMs', jitterMs, 'a number from 0')
  const tokens = Math.floor(limit * share + ROUNDING)
  // A longer window would not help: many processes with less than one request each may all send within one window.
  check(
    tokens >= 1,
    'share',
    share,
    `at least 1/${limit}, one request of the limit (smaller parts need a shared limiter)`,
  )
  return { tokens, windowMs, burst: burst ?? tokens, jitterMs, boundChanged }
}
