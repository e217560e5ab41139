// pure: finds the rate that a service allows, from its refusals

import type { Rate } from './rate.js'

/** Windows used to the full without a refusal that prove a rate good. */
const PROVEN_WINDOWS = 2
/** The part by which a proven rate rises; the found rate is at most this far from the limit. */
const INCREASE = 0.1
/** The part of the rate that remains after a refusal if no lower rate is known to be good. */
const DECREASE = 0.7
/** The lowest rate is one start in this many windows. */
const SLOWEST = 60
/** Milliseconds until a refused rate is tried again. The wait doubles with each refusal, up to the longest. */
const RETRY_MS = { first: 30_000, longest: 600_000 }

/** The rate of an operation whose limit is being found. */
export interface RateSearch extends Rate {
  /** Whether the present rate is higher than any that was proven good. */
  isProbing(): boolean
}

/**
 * Finds a limit that is not documented, from the first 429 on. The search begins with the number of requests accepted
 * in the window before the 429. The rate rises by a tenth after every two windows that were used to the full without a
 * refusal, and returns to the last good rate after a refusal. If nothing was accepted, the search begins with one start
 * and doubles the rate until a refusal. A refused rate is not tried again for half a minute, and longer each time. The
 * numbers are our choice.
 *
 * @param accepted number of requests accepted in the window before the first 429.
 */
export function createRateSearch(accepted: number, windowMs: number): RateSearch {
  let rate = Math.max(1, accepted)
  /** The highest rate known to be good. */
  let good: number | undefined
  /** The lowest refused rate, and when it may be tried again. */
  let refused = Number.POSITIVE_INFINITY
  let retryAt = Number.POSITIVE_INFINITY
  let retryMs = RETRY_MS.first
  /** Whether the present rate was refused before. */
  let retrying = false
  /**
   * When the present judgement began; refusals of requests started earlier concern earlier rates. Undefined before the
   * first.
   */
  let since: number | undefined
  let full = false

  const goOn = (from: number) => {
    since = from
    full = false
  }

  const higher = (now: number): number => {
    const nothingKnown = accepted === 0 && refused === Number.POSITIVE_INFINITY
    const next = nothingKnown ? 2 * rate : rate + Math.max(1, INCREASE * rate)
    if (next < refused || now >= retryAt) return next
    return rate
  }

  return {
    at: () => rate,
    isProbing: () => good !== undefined && rate > good,
    taken: (now, free) => {
      if (since === undefined || now < since) return
      full ||= free === 0
      if (!full || now - since < PROVEN_WINDOWS * windowMs) return
      good = Math.max(good ?? 0, rate)
      if (retrying) retryMs = RETRY_MS.first
      const next = higher(now)
      retrying = next >= refused
      if (retrying) refused = retryAt = Number.POSITIVE_INFINITY
      rate = next
      goOn(now)
    },
    lower: (now, until) => {
      const first = since === undefined
      if (since !== undefined && now < since) return goOn(Math.max(since, until))
      goOn(Math.max(now + windowMs, until))
      if (first) return
      refused = Math.min(refused, rate)
      if (retrying) retryMs = Math.min(RETRY_MS.longest, retryMs * 2)
      retrying = false
      retryAt = now + retryMs
      if (good !== undefined && good < rate) rate = good
      else rate = Math.max(1 / SLOWEST, DECREASE * rate)
      good = undefined
    },
  }
}
