// pure: the token bucket of a rate limit, and its rate after a 429 (AIMD)
import { type BoundChange, createCountBound, WIDE_MS } from './count-bound.js'
import { createLedger } from './ledger.js'
import type { LocalLimiter } from './limiter-types.js'

/** The share of the rate that remains after a 429. */
const DECREASE = 0.7
/** The share of the full rate that each window restores. */
const INCREASE = 0.05
/** The lowest rate, as a share of the full one. */
const FLOOR = 0.1

/**
 * Requests that may start per window. A 429 lowers the number, and it rises again slowly: additive increase,
 * multiplicative decrease (AIMD).
 */
export interface Rate {
  /** Returns the number of requests per window at `now`; a fraction if less than one request fits into a window. */
  at(now: number): number
  /**
   * Lowers the rate after a 429 at `now`. Nothing is started before `until`. Further 429s in the same window or pause
   * do not lower it again, because all requests in flight are refused for the same reason.
   */
  lower(now: number, until: number): void
  /** Records that a request started at `now`. @param free number of requests that may still start. */
  taken?(now: number, free: number): void
}

/**
 * Creates a rate. One 429 leaves 70 % of the rate. The recovery begins after a window, or after the pause if that is
 * longer. Each window then restores 5 % of the full rate, so it takes six windows. At least 10 % of the full rate
 * remains. The numbers are our choice.
 */
export function createRate(full: number, windowMs: number): Rate {
  let lowest = full
  let recoversFrom = Number.NEGATIVE_INFINITY

  const at = (now: number) =>
    lowest === full ? full : Math.min(full, lowest + (Math.max(0, now - recoversFrom) / windowMs) * INCREASE * full)

  return {
    at,
    lower: (now, until) => {
      if (now < recoversFrom) {
        recoversFrom = Math.max(recoversFrom, until)
      } else {
        lowest = Math.max(FLOOR * full, DECREASE * at(now))
        recoversFrom = Math.max(now + windowMs, until)
      }
    },
  }
}

/** Tolerance for rounding: times have thirteen digits, so a credit that is due may be slightly below a whole number. */
const TOLERANCE = 1e-3

/** Creates a credit of up to `burst` starts, which refills at the rate. */
function createPace(burst: number) {
  let credit = burst
  let at = Number.NEGATIVE_INFINITY
  const fill = (now: number, perMs: number) => {
    credit = Math.min(burst, credit + (now - at) * perMs)
    at = now
  }
  return {
    /** Takes one start at `now` and returns undefined. If no start is due, returns the time at which one will be. */
    take: (now: number, perMs: number) => {
      fill(now, perMs)
      if (credit < 1 - TOLERANCE) return now + (1 - credit) / perMs
      credit -= 1
      return undefined
    },
    /** Gives back a start that was not used. */
    giveBack: () => {
      credit = Math.min(burst, credit + 1)
    },
    /** Returns the number of possible starts at `now`. */
    free: (now: number, perMs: number) => {
      fill(now, perMs)
      return Math.floor(credit + TOLERANCE)
    },
  }
}

interface TokenOptions {
  readonly rate: Rate
  readonly windowMs: number
  readonly jitterMs: number
  readonly pace?: ReturnType<typeof createPace> | undefined
  readonly boundChanged?: ((boundMs: number, why: BoundChange) => void) | undefined
}

/**
 * Minimum delay in milliseconds of a check that counts as a busy event loop. On an idle loop, timers are late by 1 or 2
 * ms.
 */
const LATE_MS = 20

/**
 * Creates a token bucket with as many tokens per window as the rate allows. `createBucket` explains why this keeps the
 * limit.
 */
export function createTokens({ rate, windowMs, jitterMs, pace, boundChanged }: TokenOptions): LocalLimiter {
  const bound = createCountBound(jitterMs, boundChanged)
  const ledger = createLedger(bound)
  let checkDue = Number.NaN

  /**
   * Returns the tokens and the window that the current rate allows. A rate below one request per window stretches the
   * window.
   */
  const allowed = (now: number) => {
    const perWindow = rate.at(now)
    return perWindow < 1
      ? { perWindow, most: 1, window: windowMs / perWindow }
      : { perWindow, most: Math.floor(perWindow), window: windowMs }
  }

  /**
   * True if no responses arrive, so that the server seems to be stalled. Requests that were regarded as counted shortly
   * before then wait again, because a stalled server counts them only when it continues.
   */
  const standsStill = (now: number): boolean => {
    const since = bound.silentSince(now)
    if (since !== undefined) ledger.restart(now, since - WIDE_MS)
    return since !== undefined
  }

  return {
    reserve: (now) => {
      if (bound.at(now) !== Number.POSITIVE_INFINITY) standsStill(now)
      const { perWindow, most, window } = allowed(now)
      const out = ledger.out(now, window)
      if (out >= most) return Math.min(ledger.nextBack(now, window), now + windowMs)
      const due = pace?.take(now, perWindow / windowMs)
      if (due !== undefined) return due
      rate.taken?.(now, most - out - 1)
      return ledger.take(pace?.giveBack)
    },
    throttled: (now, until) => {
      rate.lower(now, until)
      bound.refused(now)
    },
    inspect: (now) => {
      const { perWindow, most, window } = allowed(now)
      const free = Math.max(0, most - ledger.out(now, window))
      return {
        tokens: Math.min(free, pace?.free(now, perWindow / windowMs) ?? free),
        rate: perWindow,
        countedWithinMs: bound.at(now),
      }
    },
    checkAt: (now) => {
      const boundMs = bound.at(now)
      const since = ledger.waitingSince()
      if (since === undefined || boundMs === Number.POSITIVE_INFINITY) return undefined
      // While the bound was Infinity, nothing detected a late event loop. So waiting requests are treated as written
      // now.
      if (since + boundMs < now) ledger.restart(now, now)
      checkDue = Math.max(since, now - boundMs) + boundMs
      return checkDue
    },
    check: (now) => {
      const lateMs = now - checkDue
      if (lateMs > LATE_MS) {
        bound.late(now)
        ledger.restart(now, checkDue - WIDE_MS)
      } else if (!standsStill(now)) {
        // If the event loop was slightly late, a server in this process was late too, and may count these requests
        // later.
        ledger.takeAsCounted(now, bound.at(now), now + lateMs)
      }
    },
  }
}

export interface BucketOptions {
  /** Maximum number of requests in any window, from all users of the account (service-api, Limits). A whole number. */
  readonly limit: number
  /** Length of the window, in milliseconds. */
  readonly windowMs: number
  /**
   * This process's share of the limit, above 0 and at most 1. The result is rounded down to whole requests. Default 1.
   */
  readonly share?: number | undefined
  /**
   * Maximum number of requests that start at one moment; a whole number. Further requests follow evenly. Default: the
   * whole share.
   */
  readonly burst?: number | undefined
  /**
   * Maximum difference in milliseconds between the delays of two requests on their way to the service. Default 50. Used
   * only while the service responds slowly (see `CountBound`).
   */
  readonly jitterMs?: number | undefined
  /**
   * Called when the time changes after which a request is regarded as counted without a response; Infinity for never.
   */
  readonly boundChanged?: ((countedWithinMs: number, why: BoundChange) => void) | undefined
}

/**
 * Starts requests so that the *server* never counts more than the limit. The server may use a sliding window, fixed
 * windows or a bucket of that size.
 *
 * A token becomes free one window after the latest time at which the server can have counted its request: one window
 * after the response. Proof: a request with a response at a was counted at c ≤ a. The next request on the same token is
 * written at a + window or later, and counted later still. So counts on each token are a window apart. There are at
 * most as many tokens as the limit, even over all processes, because shares are rounded down. This assumes nothing
 * about the network, the server or this process: each may stall for any time.
 *
 * The cost is response time / (window + response time) of the rate. With a window of 1 s it is 2 % at a response time
 * of 20 ms, but half at 1 s. If most responses are slow, a request is therefore also regarded as counted a bound after
 * its writing, as far as `CountBound` allows. Proof: let D be the shortest delay to the server. A request written at w
 * is counted at c ≤ w + D + bound. The next request on its token is written at w + bound + window or later and takes D
 * or longer. So it is counted at c + window or later. This assumes that delays to the server differ by less than the
 * bound.
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

/**
 * Tolerance for rounding. A share such as 0.1 of 30 comes out slightly below the whole number. The tolerance is too
 * small to add a request.
 */
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
  // Less than one request per window is rejected. Several processes with such shares may all send within one window.
  check(
    tokens >= 1,
    'share',
    share,
    `at least 1/${limit}, one request of the limit (smaller parts need a shared limiter)`,
  )
  return { tokens, windowMs, burst: burst ?? tokens, jitterMs, boundChanged }
}
