// pure: finds the rate that a service allows, by what it refuses

import type { Rate } from './rate.js'

/** After so many windows that were used to the full and without a refusal, the rate was good. */
const PROVEN_WINDOWS = 2
/** By how much it then goes up: within that much of the limit it stays. */
const INCREASE = 0.1
/** What a refusal leaves of the rate where no lower one was good. */
const DECREASE = 0.7
/** One start in that many windows, at the least. */
const SLOWEST = 60
/** A rate that was refused is tried again after this, then after twice as long each time, up to the longest. */
const RETRY_MS = { first: 30_000, longest: 600_000 }

/**
 * For a limit that nobody has documented, from the first 429 on. It begins with what was accepted in the window before,
 * and goes up by a tenth after every two windows that were used to the full without a refusal; when refused, back to
 * the last rate that was good; if nothing was accepted, it begins with one and doubles until refused. A rate that was
 * refused is not tried again for half a minute, and longer each time. The numbers are our choice.
 *
 * @param accepted requests that were accepted in the window before the first 429.
 */
export function createRateSearch(accepted: number, windowMs: number): Rate {
  let rate = Math.max(1, accepted)
  /** The highest rate known to be good. */
  let good: number | undefined
  /** The lowest rate that was refused, and when it may be tried again. */
  let refused = Number.POSITIVE_INFINITY
  let retryAt = Number.POSITIVE_INFINITY
  let retryMs = RETRY_MS.first
  /** The rate of the moment was refused once. */
  let retrying = false
  /** When what is judged now began: refusals before belong to what was before. Undefined before the first. */
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
