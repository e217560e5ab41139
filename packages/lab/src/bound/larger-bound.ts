// pure: the bound for larger matches: everybody with those who suit them best
import type { BoundTerms, Found } from './found.js'
import { averageMet, meetings } from './meetings.js'
import type { MeetsAt } from './meets-at.js'
import { leastCost } from './nearest.js'
import type { Present } from './presence.js'
import { viewOf } from './view.js'
import type { Members } from './windows.js'

/** Tickets looked at, evenly spread over the run; fewer where each sees many others. */
const MOST_TICKETS = 1000
const FEWEST_TICKETS = 100
/** Pairs of tickets looked at in all, about. */
const MOST_PAIRS = 3_000_000

/**
 * Compares what matches cost their members with the least that they could: the sum over players is a lower bound, as no
 * match gives any of its members less. Players of one party count as 0 to one another.
 *
 * @param present those who were matched, in the order in which they came.
 */
export function boundOfLarger(
  present: readonly Present[],
  matches: ReadonlyMap<number, Members>,
  { costOf, withinRules, anyRules }: BoundTerms,
): Found {
  const sums = { players: 0, cost: 0, withinRules: 0, anyRules: 0 }
  const meets = meetings(present)
  const most = Math.floor(MOST_PAIRS / Math.max(1, averageMet(present)))
  for (const own of sampled(present, Math.max(FEWEST_TICKETS, Math.min(MOST_TICKETS, most)))) {
    const { size } = own.entry
    const others = (matches.get(own.match) as Members).filter((other) => other !== own)
    const seats = playersOf(others)
    const cost = others.reduce((sum, { entry }) => sum + entry.size * costOf(own.entry, entry), 0) / seats
    const met = meets(own)
    const costs = Float64Array.from(met, ({ entry }) => costOf(own.entry, entry))
    const leastBy = (meetsAt: MeetsAt) => leastCost(viewOf(own, met, costs, meetsAt), seats, meetsAt)
    // Of the others in a player's match, those of his own party are not to be chosen.
    const weight = (size * seats) / (size + seats - 1)
    sums.players += size
    sums.cost += weight * cost
    sums.withinRules += weight * leastBy(withinRules)
    sums.anyRules += weight * leastBy(anyRules)
  }
  return { ...sums, all: playersOf(present) }
}

const playersOf = (tickets: readonly Present[]) => tickets.reduce((sum, { entry }) => sum + entry.size, 0)

const sampled = (tickets: readonly Present[], most: number): Present[] => {
  const count = Math.min(tickets.length, most)
  return Array.from({ length: count }, (_, at) => tickets[Math.floor(((at + 0.5) * tickets.length) / count)] as Present)
}
