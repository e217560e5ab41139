// pure: which potential partners of a ticket may share a match with enough other tickets
import { averageMet, meetings, type MeetsAt, type PresentTicket } from './meetings.js'
import type { BoundTerms, PairCosts, MatchTickets } from './pair-cost.js'

/**
 * Keeps only the tickets that can share a match at a moment with enough of the others to fill it. No possible match of
 * that moment is lost.
 */
type Company = (there: readonly NearbyTicket[], moment: number) => readonly NearbyTicket[]

/** @param seats number of players in a match besides those of the ticket. */
function createCompany(seen: readonly NearbyTicket[], seats: number, meetsAt: MeetsAt): Company {
  const indexes = new Map(seen.map((one, index) => [one, index]))
  /** For each two tickets, the moment from which they may be matched; NaN if it has not been computed yet. */
  const moments = new Float64Array(seen.length * seen.length).fill(Number.NaN)
  const meetAt = (one: number, other: number): number => {
    const at = Math.min(one, other) * seen.length + Math.max(one, other)
    const known = moments[at] as number
    if (!Number.isNaN(known)) return known
    const moment = meetsAt((seen[one] as NearbyTicket).other, (seen[other] as NearbyTicket).other)
    moments[at] = moment
    return moment
  }

  return (there, moment) => {
    let left = there.map((one) => ({ one, index: indexes.get(one) as number, size: one.other.entry.size }))
    for (;;) {
      const players = left.reduce((sum, { size }) => sum + size, 0)
      if (players < seats) return []
      const still = left.filter(({ index, size }) => {
        let company = size
        for (const other of left)
          if (other.index !== index && company < seats && meetAt(index, other.index) <= moment) company += other.size
        return company >= seats
      })
      if (still.length === left.length) return left.map(({ one }) => one)
      left = still
    }
  }
}

/**
 * Returns the minimum, over all moments, of the average cost to `seats` other players. At each moment, the cheapest
 * others count with whom the ticket could be matched. Infinity if there were never enough others.
 *
 * Proof that no match costs less: at the moment of a match, all its members may be matched with one another. So they
 * are among the others that are examined. A party may be split, which only lowers the bound.
 */
function leastCost({ seen, further }: CheapestOthers, seats: number, meetsAt: MeetsAt): number {
  // If some others are unknown, tickets cannot be removed, because any ticket may be matched with an unknown one.
  const company = further === Infinity ? createCompany(seen, seats, meetsAt) : undefined
  let least = Infinity
  // Only moments at which a player comes or leaves are examined. Players who could be matched between two of these
  // moments could also be matched at the later one.
  for (const moment of new Set(seen.flatMap(({ from, until }) => [from, until]))) {
    const there = seen.filter(({ from, until }) => from <= moment && moment <= until)
    const bound = averageCost(there, seats, further)
    if (bound >= least) continue
    least = Math.min(least, company === undefined ? bound : averageCost(company(there, moment), seats, further))
  }
  return least
}

/** Returns the average cost of the cheapest `seats` players in a list that is sorted by cost. */
function averageCost(there: readonly NearbyTicket[], seats: number, further: number): number {
  let left = seats
  let sum = 0
  for (const { other, cost } of there) {
    const taken = Math.min(left, other.entry.size)
    sum += taken * cost
    left -= taken
    if (left === 0) return sum / seats
  }
  return (sum + left * further) / seats
}

/** Maximum number of other tickets that are compared with one another. */
const MOST_COMPARED = 256

/**
 * Another ticket that could be matched with a given one: its cost, and the time span in which they could be matched.
 */
interface NearbyTicket {
  readonly other: PresentTicket
  readonly cost: number
  readonly from: number
  readonly until: number
}

/** The cheapest other tickets, sorted by cost. */
interface CheapestOthers {
  readonly seen: readonly NearbyTicket[]
  /** The minimum cost of the tickets that are not in the list. Infinity if the list has all other tickets. */
  readonly further: number
}

/** Finds the cheapest tickets with which a ticket could be matched. @param costs the cost of each of the others. */
function viewOf(
  own: PresentTicket,
  others: readonly PresentTicket[],
  costs: Float64Array,
  meetsAt: MeetsAt,
): CheapestOthers {
  const most = MOST_COMPARED + 1
  const seen: NearbyTicket[] = []
  for (const [at, other] of others.entries()) {
    const cost = costs[at] as number
    const isFull = seen.length === most
    if (other === own || (isFull && cost >= (seen[most - 1] as NearbyTicket).cost)) continue
    const from = meetsAt(own, other)
    const until = Math.min(own.until, other.until)
    if (from > until) continue
    if (isFull) seen.pop()
    let place = seen.length
    while (place > 0 && (seen[place - 1] as NearbyTicket).cost > cost) place -= 1
    seen.splice(place, 0, { other, cost, from, until })
  }
  return { seen: seen.slice(0, MOST_COMPARED), further: seen[MOST_COMPARED]?.cost ?? Infinity }
}

/**
 * Maximum number of sampled tickets, evenly spread over the run. Fewer are sampled if each has many potential partners.
 */
const MOST_TICKETS = 1000
const FEWEST_TICKETS = 100
/** Approximate maximum number of pairs of tickets that are examined. */
const MOST_PAIRS = 3_000_000

/**
 * Compares the cost of the matches with a minimum. The minimum is the sum over the players, each with the best others:
 * a lower bound, because no match costs any member less. The cost between players of one party is 0.
 *
 * @param present the matched tickets, in order of arrival.
 */
export function boundOfLarger(
  present: readonly PresentTicket[],
  matches: ReadonlyMap<number, MatchTickets>,
  { costOf, withinRules, anyRules }: BoundTerms,
): PairCosts {
  const sums = { players: 0, cost: 0, withinRules: 0, anyRules: 0 }
  const meets = meetings(present)
  const most = Math.floor(MOST_PAIRS / Math.max(1, averageMet(present)))
  for (const own of sampled(present, Math.max(FEWEST_TICKETS, Math.min(MOST_TICKETS, most)))) {
    const { size } = own.entry
    const others = (matches.get(own.match) as MatchTickets).filter((other) => other !== own)
    const seats = playersOf(others)
    const cost = others.reduce((sum, { entry }) => sum + entry.size * costOf(own.entry, entry), 0) / seats
    const met = meets(own)
    const costs = Float64Array.from(met, ({ entry }) => costOf(own.entry, entry))
    const leastBy = (meetsAt: MeetsAt) => leastCost(viewOf(own, met, costs, meetsAt), seats, meetsAt)
    // A player's cost is an average over all others in the match. Those of the player's own party cost nothing, so the
    // average over the remaining ones is weighted.
    const weight = (size * seats) / (size + seats - 1)
    sums.players += size
    sums.cost += weight * cost
    sums.withinRules += weight * leastBy(withinRules)
    sums.anyRules += weight * leastBy(anyRules)
  }
  return { ...sums, all: playersOf(present) }
}

const playersOf = (tickets: readonly PresentTicket[]) => tickets.reduce((sum, { entry }) => sum + entry.size, 0)

const sampled = (tickets: readonly PresentTicket[], most: number): PresentTicket[] => {
  const count = Math.min(tickets.length, most)
  return Array.from(
    { length: count },
    (_, at) => tickets[Math.floor(((at + 0.5) * tickets.length) / count)] as PresentTicket,
  )
}
