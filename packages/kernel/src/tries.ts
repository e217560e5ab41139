// pure: the limits of tries for a search and a round
import type { Model } from './model.js'

/** Up to this many tickets, every match is searched for thoroughly. */
export const SMALL_POOL = 500
/**
 * Tries for one match: in a small pool, and in a large one (0: only the one try per candidate that each search gets
 * anyway).
 */
const THOROUGH = 2000
const BRIEF = 0
/**
 * Tries for one match where matches are checked as a whole and an arrangement of teams is a try too: some 10 ms at
 * most. After a search given up, the next one for the same ticket gets twice as many, at most `DOUBLINGS` times.
 */
const MOST_CHECKED = 4000
const BRIEF_CHECKED = 1000
const DOUBLINGS = 2
/**
 * Tries of one round, where matches are checked as a whole, before matching in bulk and again after. Tickets left over
 * come first in the next round.
 */
const CHECKED_TRIES = 10_000

export interface Tries {
  /** Tries for one search. @param before searches for the same ticket that were given up. */
  ofSearch(waiting: number, before: number): number
  /** Tries for each of the two parts of a round; Infinity for no limit. */
  readonly ofRound: number
}

export function triesOf({ checks }: Model<never>): Tries {
  const isChecked = (checks?.part ?? checks?.whole ?? checks?.unevenness) !== undefined
  if (!isChecked) return { ofRound: Infinity, ofSearch: (waiting) => (waiting <= SMALL_POOL ? THOROUGH : BRIEF) }
  return {
    ofRound: CHECKED_TRIES,
    ofSearch: (waiting, before) =>
      waiting <= SMALL_POOL ? MOST_CHECKED : BRIEF_CHECKED << Math.min(DOUBLINGS, before),
  }
}
