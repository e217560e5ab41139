// pure: how many tries a search and a round have
import type { Model } from './model.js'

/** Tickets that are few enough for every match to be looked for thoroughly. */
export const SMALL_POOL = 500
/** Tries for one match: in a small pool, and in a large one, where each candidate is tried once. */
const THOROUGH = 2000
const BRIEF = 0
/**
 * The same where matches are checked as a whole, and a way to make the teams is a try too: some 10 ms at most. After a
 * search that was given up the next one for the same ticket tries twice as much, up to this.
 */
const MOST_CHECKED = 4000
const BRIEF_CHECKED = 1000
const DOUBLINGS = 2
/**
 * Where matches are checked as a whole, the tries of one round that may be in vain: before matches are made in bulk,
 * and after. Whoever is left comes first in the next round.
 */
const CHECKED_TRIES = 10_000

export interface Tries {
  /** @param before searches for the same ticket that were given up. */
  ofSearch(waiting: number, before: number): number
  /** For each of the two parts of a round; Infinity for no bound. */
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
