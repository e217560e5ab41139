// pure: the bound for pairs: the optimum in windows of the run
import type { BoundTerms, Found } from './found.js'
import type { PairCost } from './pair-cost.js'
import { cheapestCost } from './pairs.js'
import type { Present } from './presence.js'
import { matchesOf, windowsOf } from './windows.js'

/** Tickets of a window. An optimum takes a time that grows with the third power of them. */
const WINDOW = 400
/** Windows looked at, evenly spread over the run. */
const MOST_WINDOWS = 8

/**
 * Compares the pairs of a window with the cheapest pairs of the same tickets and of those who left without a match at
 * the same time, as many as were made. Parties of two, who are a match by themselves, do not count.
 */
export function boundOfPairs(present: readonly Present[], { costOf, withinRules, anyRules }: BoundTerms): Found {
  const single = present.filter(({ entry }) => entry.size === 1)
  let [players, cost, within, any] = [0, 0, 0, 0]
  for (const { tickets, matches } of windowsOf(single, WINDOW, MOST_WINDOWS)) {
    const made = matches.reduce((sum, [one, other]) => sum + pairOf(one, other, costOf), 0)
    players += 2 * matches.length
    cost += 2 * made
    // The pairs that were made are possible, so none costs more; they need not be allowed by limits as of now, where a
    // rule is the game's own or attributes change with time.
    within += 2 * Math.min(made, cheapestCost(tickets, matches.length, withinRules, costOf) ?? made)
    any += 2 * Math.min(made, cheapestCost(tickets, matches.length, anyRules, costOf) ?? made)
  }
  const all = 2 * matchesOf(single).filter((match) => match.length === 2).length
  return { players, all, cost, withinRules: within, anyRules: any }
}

const pairOf = (one: Present | undefined, other: Present | undefined, costOf: PairCost): number =>
  one === undefined || other === undefined ? 0 : costOf(one.entry, other.entry)
