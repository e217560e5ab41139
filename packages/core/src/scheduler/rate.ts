// pure: how fast to go after the service said 'too many'

/** The part of the rate that a 429 leaves. */
const DECREASE = 0.7
/** The part of the full rate that is regained in each window. */
const INCREASE = 0.05
/** The lowest rate, as a part of the full one. */
const FLOOR = 0.1

/** Starts per window, lowered by a 429 and slowly raised again: additive increase, multiplicative decrease (AIMD). */
export interface Rate {
  /** Starts per window at `now`; a fraction where less than one start fits into a window. */
  at(now: number): number
  /**
   * A 429 was seen at `now`, and nothing will be started before `until`. Counts once in a window, and once
   * in a pause: the many requests in flight are all refused for the same reason.
   */
  lower(now: number, until: number): void
  /** Notes a start at `now`; afterwards this number of starts is free. */
  taken?(now: number, free: number): void
}

/**
 * One 429 leaves 70 % of the rate. After a window, or the pause if that is longer, each window gives 5 % of
 * the full rate back: full speed again after six. However many follow, a tenth of the rate remains. Our choice.
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
