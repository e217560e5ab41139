// pure: the bound for pairs: the optimum in windows of the run
import type { BoundTerms, Found } from './found.js'
import { averageMet } from './meetings.js'
import { cheapestCost } from './pairs.js'
import type { Present } from './presence.js'
import { windowsOf, type Members } from './windows.js'

/** Tickets of a window. An optimum takes a time that grows with the third power of them. */
const WINDOW = 500
/** Windows looked at, evenly spread over the run. */
const MOST_WINDOWS = 6

/**
 * Compares the pairs of a window with the cheapest pairs of the same tickets. Parties of two, who are a match by
 * themselves, do not count.
 *
 * @param present those who were matched, in the order in which they came.
 */
export function boundOfPairs(
  present: readonly Present[],
  matches: ReadonlyMap<number, Members>,
  { costOf, withinRules, anyRules }: BoundTerms,
): Found {
  const pairs = [...matches.values()].toSorted(inOrder)
  const windows = windowsOf(pairs, { size: WINDOW, most: MOST_WINDOWS, met: averageMet(present), costOf })
  const sums = { cost: 0, withinRules: 0, anyRules: 0 }
  const seen = new Set<Members>()
  for (const window of windows) {
    for (const pair of window) seen.add(pair)
    const tickets = window.flat().toSorted((one, other) => one.from - other.from || one.ticket - other.ticket)
    for (const [one, other] of window) sums.cost += costOf((one as Present).entry, (other as Present).entry)
    sums.withinRules += cheapestCost(tickets, withinRules, costOf)
    sums.anyRules += cheapestCost(tickets, anyRules, costOf)
  }
  const looked = windows.reduce((sum, window) => sum + window.length, 0)
  const scale = looked === 0 ? 0 : (2 * seen.size) / looked
  return {
    players: 2 * seen.size,
    all: 2 * pairs.length,
    cost: scale * sums.cost,
    withinRules: scale * sums.withinRules,
    anyRules: scale * sums.anyRules,
  }
}

const inOrder = ([one]: Members, [other]: Members) =>
  (one as Present).until - (other as Present).until || (one as Present).match - (other as Present).match
