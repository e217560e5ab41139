// pure: which potential partners of a ticket may be in a match with enough of the others
import { averageMet, meetings, type MeetsAt, type PresentTicket } from './meetings.js'
import type { BoundTerms, PairCosts, MatchTickets } from './pair-cost.js'

/**
 * Removes tickets that cannot be matched with enough of the others to fill the match at a moment. No match could have
 * them then, so no possible match is lost.
 */
type Company = (there: readonly NearbyTicket[], moment: number) => readonly NearbyTicket[]

/** @param seats players of a match in addition to the ticket. */
function createCompany(seen: readonly NearbyTicket[], seats: number, meetsAt: MeetsAt): Company {
  const indexes = new Map(seen.map((one, index) => [one, index]))
  /** For each two tickets, the moment from which they may be matched; NaN if it was not computed yet. */
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
 * The minimum average cost to `seats` other players: over all moments, the cost of the cheapest others with whom the
 * ticket could be matched then. Proof that no match costs less: all members of a match may be matched with one another
 * at its moment, so the others are among those examined, and no `seats` of these cost less than the cheapest. A party
 * may be split, which only lowers the bound. Infinity if there were never as many.
 */
function leastCost({ seen, further }: CheapestOthers, seats: number, meetsAt: MeetsAt): number {
  // If not all others are known, anybody may be matched with the unknown ones.
  const company = further === Infinity ? createCompany(seen, seats, meetsAt) : undefined
  let least = Infinity
  // Players of one match could equally be matched at the next moment at which a player comes or leaves, themselves
  // included.
  for (const moment of new Set(seen.flatMap(({ from, until }) => [from, until]))) {
    const there = seen.filter(({ from, until }) => from <= moment && moment <= until)
    const bound = averageCost(there, seats, further)
    if (bound >= least) continue
    least = Math.min(least, company === undefined ? bound : averageCost(company(there, moment), seats, further))
  }
  return least
}

/** The average cost of the cheapest. The list is sorted by cost. */
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

/** Maximum number of others that are compared with one another. */
const MOST_COMPARED = 256

/** Another ticket, and the time in which both could have been matched. */
interface NearbyTicket {
  readonly other: PresentTicket
  readonly cost: number
  readonly from: number
  readonly until: number
}

/** The cheapest others, sorted by cost. All further ones cost at least `further`. */
interface CheapestOthers {
  readonly seen: readonly NearbyTicket[]
  /** Infinity if there are no further ones. */
  readonly further: number
}

/** @param costs the cost of each of the others. */
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

/** Maximum number of sampled tickets, evenly spread over the run; fewer if each has many potential partners. */
const MOST_TICKETS = 1000
const FEWEST_TICKETS = 100
/** Approximate maximum number of pairs of tickets that are examined. */
const MOST_PAIRS = 3_000_000

/**
 * Compares the cost of matches for their members with the minimum: the sum over players is a lower bound, because no
 * match costs any of its members less. The cost between players of one party is 0.
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
    // The other players in a match are not of the player's own party.
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
