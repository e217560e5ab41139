// pure: how far ahead of their wait the tickets of one region are, so that they wait as long as wanted

/** What was seen of a region since the last step. */
export interface SeenLately {
  /** Milliseconds since the last step. */
  readonly elapsedMs: number
  /** What nine of ten tickets wait at most, as far as is known lately. Undefined: too few came. */
  readonly p90Ms: number | undefined
  /** Tickets that come in `memoryMs`, as far as is known lately. */
  readonly arrivals: number
  /** Milliseconds for which what is seen is remembered. */
  readonly memoryMs: number
}

/** A head start lies between these, in target waits (our choice): the strictest limits at first, or the loosest. */
const LEAST = -1
/** What tickets have until something is known, in target waits (our choice). */
const AT_FIRST = 1
/** A measured wait counts as so many target waits at most: one that is hardly known must not throw limits open. */
export const LONGEST = 3
/** By how many target waits the head start grows when so few come that their number is divided by e (measured). */
const PER_ARRIVALS = 0.8

/**
 * Steers by two things. The error, what nine of ten waited against what they should, is integrated: a head start that
 * is a second longer makes tickets wait about a second less, so the integral settles as fast as the delay of what is
 * seen permits. And when more or fewer tickets come, the head start changes at once, before anybody has waited too
 * long: that need not be exact, since the integral corrects it.
 */
export class HeadStart {
  /** Milliseconds; negative where tickets stay at the strictest limits for so long. */
  ms: number
  readonly #targetMs: number
  readonly #mostMs: number
  #ageMs = 0
  #arrivals: number | undefined

  /** @param mostMs with this head start, limits are at their loosest at once. */
  constructor(targetMs: number, mostMs: number, ms = AT_FIRST * targetMs) {
    this.#targetMs = targetMs
    this.#mostMs = mostMs
    this.ms = ms
  }

  step({ elapsedMs, p90Ms = this.#targetMs, arrivals, memoryMs }: SeenLately): void {
    this.#ageMs += elapsedMs
    const errorMs = Math.min(p90Ms, LONGEST * this.#targetMs) - this.#targetMs
    // At first little is remembered, so that what is seen is young.
    const delayMs = this.#targetMs + Math.min(memoryMs, this.#ageMs / 2)
    const foreseen = this.#foreseen(arrivals)
    // At first, the number that comes is hardly known.
    const foreseenMs = this.#ageMs < memoryMs ? 0 : foreseen * PER_ARRIVALS * this.#targetMs
    const next = this.ms + errorMs * Math.min(1, elapsedMs / delayMs) + foreseenMs
    this.ms = Math.min(this.#mostMs, Math.max(LEAST * this.#targetMs, next))
  }

  /** By how much fewer tickets come than before, as a logarithm. One more or less of a few is no news. */
  #foreseen(arrivals: number): number {
    const now = Math.log(arrivals + 1)
    const before = this.#arrivals ?? now
    this.#arrivals = now
    return before - now
  }
}
