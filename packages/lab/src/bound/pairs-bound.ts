// pure: the cheapest pairs that could have been made of the same players
import { cheapestPairs } from './cheapest-pairs.js'
import { averageMet, type MeetsAt, type PresentTicket } from './meetings.js'
import { type BoundTerms, type PairCosts, type MatchTickets, type PairCost, windowsOf } from './pair-cost.js'

/** Costs are multiplied by this and rounded to whole numbers, whose sums are exact. */
const PARTS = 1e6
/** Initial number of edges of each ticket: its cheapest ones. Others are added if they turn out to be needed. */
const FIRST_EDGES = 12

/**
 * Returns the exact cost of the cheapest way to pair all these tickets. The tickets of a pair must have waited at the
 * same time and be allowed together. The run paired all of them, so at least one way exists.
 */
function cheapestCost(tickets: readonly PresentTicket[], meetsAt: MeetsAt, costOf: PairCost): number {
  const costs = costsBetween(tickets, meetsAt, costOf)
  const edges = new Set([...pairsMade(tickets), ...cheapestEdges(costs, tickets.length)])
  for (;;) {
    const known = [...edges].toSorted((one, other) => one - other)
    const { cost, proof } = cheapestPairs(graphOf(known, costs, tickets.length), tickets.length / 2)
    const missing = missingEdges(costs, proof, edges)
    if (missing.length === 0) return cost / PARTS
    for (const edge of missing) edges.add(edge)
  }
}

/**
 * Returns the cost between any two tickets, at the index `one · n + other` with `one` before `other`; Infinity if they
 * could not be paired.
 */
function costsBetween(tickets: readonly PresentTicket[], meetsAt: MeetsAt, costOf: PairCost): Float64Array {
  const count = tickets.length
  const costs = new Float64Array(count * count).fill(Infinity)
  for (const [at, one] of tickets.entries()) {
    for (let next = at + 1; next < count; next++) {
      const other = tickets[next] as PresentTicket
      const isApart = one.from > other.until || other.from > one.until
      if (isApart || meetsAt(one, other) > Math.min(one.until, other.until)) continue
      costs[at * count + next] = Math.round(PARTS * costOf(one.entry, other.entry))
    }
  }
  return costs
}

/** Returns the pairs of the run, as indexes of `costs`. */
const pairsMade = (tickets: readonly PresentTicket[]): number[] =>
  tickets.flatMap(({ match }, at) => {
    const other = tickets.findIndex((ticket, next) => next > at && ticket.match === match)
    return other === -1 ? [] : [at * tickets.length + other]
  })

/** Returns the cheapest edges of each ticket, as indexes of `costs`. */
const cheapestEdges = (costs: Float64Array, count: number): number[] =>
  Array.from({ length: count }, (_, at) => {
    const own = Array.from({ length: count }, (__, other) => Math.min(at, other) * count + Math.max(at, other))
    return own
      .filter((edge) => (costs[edge] as number) < Infinity)
      .toSorted((one, other) => (costs[one] as number) - (costs[other] as number) || one - other)
      .slice(0, FIRST_EDGES)
  }).flat()

const graphOf = (edges: readonly number[], costs: Float64Array, vertices: number) => ({
  vertices,
  ends: Int32Array.from(edges.flatMap((edge) => [Math.floor(edge / vertices), edge % vertices])),
  costs: Float64Array.from(edges, (edge) => costs[edge] as number),
})

/** Returns the omitted edges that are cheaper than the proof allows: with them, other pairs may cost less. */
function missingEdges(costs: Float64Array, proof: Float64Array, edges: ReadonlySet<number>): number[] {
  const missing: number[] = []
  const count = proof.length
  for (let one = 0; one < count; one++)
    for (let other = one + 1; other < count; other++) {
      const edge = one * count + other
      const slack = (proof[one] as number) + (proof[other] as number) + 2 * (costs[edge] as number)
      if (slack < 0 && !edges.has(edge)) missing.push(edge)
    }
  return missing
}

/** Number of tickets in a window. The time of an optimum grows with the third power of this number. */
const WINDOW = 500
/** Maximum number of windows, evenly spread over the run. */
const MOST_WINDOWS = 6

/**
 * Compares the pairs of each window with the cheapest pairs of the same tickets. Parties of two are omitted, because
 * they fill a match alone.
 *
 * @param present the matched tickets, in order of arrival.
 */
export function boundOfPairs(
  present: readonly PresentTicket[],
  matches: ReadonlyMap<number, MatchTickets>,
  { costOf, withinRules, anyRules }: BoundTerms,
): PairCosts {
  const pairs = [...matches.values()].toSorted(inOrder)
  const windows = windowsOf(pairs, { size: WINDOW, most: MOST_WINDOWS, met: averageMet(present), costOf })
  const sums = { cost: 0, withinRules: 0, anyRules: 0 }
  const seen = new Set<MatchTickets>()
  for (const window of windows) {
    for (const pair of window) seen.add(pair)
    const tickets = window.flat().toSorted((one, other) => one.from - other.from || one.ticket - other.ticket)
    for (const [one, other] of window) sums.cost += costOf((one as PresentTicket).entry, (other as PresentTicket).entry)
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

const inOrder = ([one]: MatchTickets, [other]: MatchTickets) =>
  (one as PresentTicket).until - (other as PresentTicket).until ||
  (one as PresentTicket).match - (other as PresentTicket).match
