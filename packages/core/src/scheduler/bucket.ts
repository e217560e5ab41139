// pure: the response-time token bucket; every time is passed in

import { createLedger } from './ledger.js'
import type { Limiter } from './limiter.js'
import { createPace } from './pace.js'
import { createRate } from './rate.js'

export interface BucketOptions {
  /** Requests the service accepts in any window, from all who use the account (service-api, Limits). A whole number. */
  readonly limit: number
  /** Length of the window, in milliseconds. */
  readonly windowMs: number
  /** This process's part of the limit, more than 0 and at most 1; what it makes is rounded down to whole requests. Default 1. */
  readonly share?: number | undefined
  /** How many may start at one moment; those after them follow evenly. A whole number. Default: all that the share allows. */
  readonly burst?: number | undefined
  /** By how much a request may take longer to the service than at its fastest, in milliseconds. Default 50. */
  readonly jitterMs?: number | undefined
}

/**
 * Starts requests so that the *server* never counts more than the limit, be it over a sliding window, over
 * fixed windows or with a bucket of that size.
 *
 * A token comes back one window after the server can last have counted the request that used it: the
 * earlier of `answered` and `written + jitter bound`. Why that is enough: let D be the fastest way to the
 * server. A request written at w is counted at c ≤ w + D + bound, and no later than it is answered. The
 * next request on the same token is written at min(w + bound, answered) + window or later, takes D or
 * longer, and so is counted at c + window or later. On each token, then, counts are a window apart, and
 * there are no more tokens than the limit: nor over all processes, because shares are rounded down.
 *
 * No rule that sees only writes and answers is as safe and faster. Taking the smallest round trip seen off
 * the time of the answer looks exact, but that trip may itself have been slow, or its answer: behind a
 * round trip of 100 ms the way there may have taken 50 ms more than at its fastest, or nothing more. The
 * price is at most bound / (window + bound) of the rate (4.8 % at 50 ms and one second), and less where
 * answers come sooner than the bound.
 *
 * It cannot know what another process sent in the window before this one began.
 *
 * @throws RangeError naming the option and the value.
 */
export function createBucket(options: BucketOptions): Limiter {
  const { tokens, windowMs, burst, jitterMs } = validated(options)
  const ledger = createLedger(jitterMs)
  const rate = createRate(tokens, windowMs)
  const pace = burst < tokens ? createPace(burst) : undefined

  /** What the rate of the moment allows. Below one start per window, the window is stretched. */
  const allowed = (now: number) => {
    const perWindow = rate.at(now)
    return perWindow < 1
      ? { perWindow, most: 1, window: windowMs / perWindow }
      : { perWindow, most: Math.floor(perWindow), window: windowMs }
  }

  return {
    reserve: (now) => {
      const { perWindow, most, window } = allowed(now)
      if (ledger.out(now, window) >= most) return Math.min(ledger.nextBack(now, window), now + windowMs)
      const due = pace?.take(now, perWindow / windowMs)
      if (due !== undefined) return due
      return ledger.take(pace?.giveBack)
    },
    throttled: (now, until) => rate.lower(now, until),
    inspect: (now) => {
      const { perWindow, most, window } = allowed(now)
      const free = Math.max(0, most - ledger.out(now, window))
      return { tokens: Math.min(free, pace?.free(now, perWindow / windowMs) ?? free), rate: perWindow }
    },
  }
}

/** Shares such as 0.1 × 30 come out a hair below the whole number that is meant. Too little to add up to a request. */
const ROUNDING = 1e-9

function validated({ limit, windowMs, share = 1, burst, jitterMs = 50 }: BucketOptions) {
  const check = (holds: boolean, option: string, value: unknown, wanted: string) => {
    if (!holds) throw new RangeError(`${option} must be ${wanted}, not ${String(value)}`)
  }
  check(Number.isInteger(limit) && limit >= 1, 'limit', limit, 'a whole number from 1')
  check(Number.isFinite(windowMs) && windowMs > 0, 'windowMs', windowMs, 'a number above 0')
  check(share > 0 && share <= 1, 'share', share, 'a number above 0 and up to 1')
  check(burst === undefined || (Number.isInteger(burst) && burst >= 1), 'burst', burst, 'a whole number from 1')
  check(Number.isFinite(jitterMs) && jitterMs >= 0, 'jitterMs', jitterMs, 'a number from 0')
  const tokens = Math.floor(limit * share + ROUNDING)
  // A longer window would not do: many processes with less than one request each may all send within one window.
  check(tokens >= 1, 'share', share, `at least 1/${limit}, one request of the limit (smaller parts need a shared limiter)`)
  return { tokens, windowMs, burst: burst ?? tokens, jitterMs }
}
