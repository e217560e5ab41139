// pure: the bound for larger matches: everybody with those who suit them best
import type { BoundTerms, Found } from './found.js'
import { leastCost, seenBy } from './nearest.js'
import type { Present } from './presence.js'
import { matchesOf } from './windows.js'

/** Tickets looked at, evenly spread over the run; fewer where each sees many others. */
const MOST_TICKETS = 2000
const FEWEST_TICKETS = 100
/** Pairs of tickets looked at in all, about. */
const MOST_PAIRS = 3_000_000

/**
 * Compares what matches cost their members with the least that they could: the sum over players is a lower bound, as no
 * match gives any of its members less. Players of one party count as 0 to one another.
 */
export function boundOfLarger(present: readonly Present[], { costOf, withinRules, anyRules }: BoundTerms): Found {
  const matches = new Map(matchesOf(present).map((members) => [members[0]?.match, members]))
  const matched = present.filter(({ match }) => (matches.get(match)?.length ?? 0) > 1)
  const sums = { players: 0, cost: 0, withinRules: 0, anyRules: 0 }
  const meets = meetings(present)
  for (const own of sampled(matched, sampleSize(present))) {
    const { size } = own.entry
    const others = (matches.get(own.match) ?? []).filter((other) => other !== own)
    const seats = playersOf(others)
    const cost = others.reduce((sum, { entry }) => sum + entry.size * costOf(own.entry, entry), 0) / seats
    const met = meets(own).filter((other) => anyRules(own, other))
    const seen = seenBy(own, met, ({ entry }) => costOf(own.entry, entry))
    const allowed = seen.filter(({ other }) => withinRules(own, other))
    // Of the others in a player's match, those of his own party are not to be chosen.
    const weight = (size * seats) / (size + seats - 1)
    sums.players += size
    sums.cost += weight * cost
    // The match that was made was possible, also where today's limits and attributes would not allow it.
    sums.withinRules += weight * Math.min(cost, leastCost(allowed, own.from, seats))
    sums.anyRules += weight * Math.min(cost, leastCost(seen, own.from, seats))
  }
  return { ...sums, all: playersOf(matched) }
}

const playersOf = (tickets: readonly Present[]) => tickets.reduce((sum, { entry }) => sum + entry.size, 0)

const sampled = (tickets: readonly Present[], most: number): Present[] => {
  const count = Math.min(tickets.length, most)
  return Array.from({ length: count }, (_, at) => tickets[Math.floor(((at + 0.5) * tickets.length) / count)] as Present)
}

/** How many tickets may be looked at, by how many others a ticket meets on average. */
function sampleSize(present: readonly Present[]): number {
  const ends = present.reduce((latest, { until }) => Math.max(latest, until), 0)
  const waits = present.reduce((sum, { from, until }) => sum + until - from, 0)
  const met = (2 * waits) / Math.max(1, ends - (present[0]?.from ?? 0))
  return Math.max(FEWEST_TICKETS, Math.min(MOST_TICKETS, Math.floor(MOST_PAIRS / Math.max(1, met))))
}

/** Returns the tickets that were there at the same time as another; to be asked in the order in which those came. */
function meetings(present: readonly Present[]): (own: Present) => Present[] {
  let next = 0
  let there: Present[] = []
  return (own) => {
    for (; next < present.length && (present[next] as Present).from <= own.from; next++)
      there.push(present[next] as Present)
    there = there.filter(({ until }) => until >= own.from)
    const met = there.slice()
    for (let at = next; at < present.length && (present[at] as Present).from <= own.until; at++)
      met.push(present[at] as Present)
    return met
  }
}
