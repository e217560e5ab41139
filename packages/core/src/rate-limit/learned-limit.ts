// pure: finds the rate that a service allows from its 429s, and distinguishes 429s of a limit from stray ones
import type { Rate } from './token-bucket.js'

/** A rate is proven good after this many windows that used it fully without a refusal. */
const PROVEN_WINDOWS = 2
/** The share by which a proven rate rises. The rate that is found is at most this share below the limit. */
const INCREASE = 0.1
/** The share of the rate that remains after a refusal if no lower rate is known to be good. */
const DECREASE = 0.7
/** The lowest rate: one request in this many windows. */
const SLOWEST = 60
/** Milliseconds until a refused rate is tried again. They double with each refusal, up to `longest`. */
const RETRY_MS = { first: 30_000, longest: 600_000 }

/** The rate of an operation whose limit is being searched. */
export interface RateSearch extends Rate {
  /** True if the current rate is higher than any proven rate. */
  isProbing(): boolean
}

/**
 * Finds an undocumented limit, starting at the first 429. The search begins with the number of requests that were
 * accepted in the window before that 429. The rate rises by 10 % after every two windows that were used fully without a
 * refusal. After a refusal, it returns to the last good rate. If nothing was accepted, the search begins with one
 * request per window and doubles the rate until a refusal. A refused rate is not tried again for 30 s, and for longer
 * after each further refusal. The numbers are our choice.
 *
 * @param accepted number of requests accepted in the window before the first 429.
 */
export function createRateSearch(accepted: number, windowMs: number): RateSearch {
  let rate = Math.max(1, accepted)
  /** The highest rate known to be good. */
  let good: number | undefined
  /** The lowest refused rate, and the time at which it may be tried again. */
  let refused = Number.POSITIVE_INFINITY
  let retryAt = Number.POSITIVE_INFINITY
  let retryMs = RETRY_MS.first
  /** True if the current rate was refused before. */
  let retrying = false
  /**
   * Time from which the current rate is judged; undefined until the first call of `lower`. Requests that started
   * earlier belong to earlier rates.
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

/** Length of a span in milliseconds. Only responses of the current and of the previous span count. */
const SPAN_MS = 5000
/**
 * Thresholds for assuming an undocumented limit: more than `least` refusals that are also more than `share` of all
 * responses.
 */
const USUAL = { least: 4, share: 0.06 }

/** Judges the 429s of an operation without a documented limit. */
export interface Refusals {
  /** Records a response other than 429. */
  accepted(now: number): void
  /**
   * Records a 429. Returns true if the 429s of the last 5 to 10 s, including this one, look like those of a limit.
   * @param isProbing true if the current rate was never proven
   */
  refused(now: number, isProbing: boolean): boolean
  /** Restarts the counts, because the rate has changed. */
  restart(): void
}

/**
 * Creates the judge of 429s. A service refuses some requests for reasons other than the rate. If it refuses 3 % at
 * random, these numbers mistake that for a limit less than once in an hour of 10 requests per second. A limit that is
 * exceeded by 10 % is recognized within some 200 requests. A limit that is exceeded tenfold is recognized by the fifth
 * refusal. Once a limit is recognized, every further 429 counts as one of a limit until a request is accepted. A higher
 * rate on trial is dropped at the second refusal. The numbers are our choice.
 */
export function createRefusals(): Refusals {
  let begun = Number.NEGATIVE_INFINITY
  let before = { accepted: 0, refused: 0 }
  let current = { accepted: 0, refused: 0 }
  /** True if no request was accepted since a refusal by a limit. */
  let isLimited = false

  const restart = () => {
    before = { accepted: 0, refused: 0 }
    current = { accepted: 0, refused: 0 }
  }
  const turn = (now: number) => {
    if (now - begun < SPAN_MS) return
    before = now - begun < 2 * SPAN_MS ? current : { accepted: 0, refused: 0 }
    current = { accepted: 0, refused: 0 }
    begun = now
  }
  const isLimit = (isProbing: boolean): boolean => {
    if (isLimited) return true
    const refused = before.refused + current.refused
    const all = refused + before.accepted + current.accepted
    return isProbing ? refused >= 2 && refused >= all / 20 : refused >= USUAL.least + USUAL.share * all
  }

  return {
    accepted: (now) => {
      turn(now)
      current.accepted += 1
      isLimited = false
    },
    refused: (now, isProbing) => {
      turn(now)
      current.refused += 1
      if (!isLimit(isProbing)) return false
      isLimited = true
      restart()
      return true
    },
    restart,
  }
}
