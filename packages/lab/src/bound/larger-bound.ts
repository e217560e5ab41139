// pure: who of those that a ticket could be matched with may be in a match with enough of the others
import { averageMet, meetings, type MeetsAt, type Present } from './meetings.js'
import type { BoundTerms, Found, Members } from './pair-cost.js'

/**
 * Leaves out tickets that may not meet enough of the others to fill the match at a moment. No match could have them
 * then, so no possible match is lost.
 */
type Company = (there: readonly Seen[], moment: number) => readonly Seen[]

/** @param seats players of a match besides the ticket itself. */
function createCompany(seen: readonly Seen[], seats: number, meetsAt: MeetsAt): Company {
  const indexes = new Map(seen.map((one, index) => [one, index]))
  /** For each two the moment from which they may meet; NaN where it is not known yet. */
  const moments = new Float64Array(seen.length * seen.length).fill(Number.NaN)
  const meetAt = (one: number, other: number): number => {
    const at = Math.min(one, other) * seen.length + Math.max(one, other)
    const known = moments[at] as number
    if (!Number.isNaN(known)) return known
    const moment = meetsAt((seen[one] as Seen).other, (seen[other] as Seen).other)
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
 * The least that the average cost to `seats` other players can be: over all moments, the cost of the cheapest others
 * with whom the ticket could be matched then. Proof that no match costs less: when a match is made, all its members may
 * meet one another, so the others are among those looked at, and no `seats` of these cost less than the cheapest. A
 * party may be cut, which only lowers the bound. Infinity if there were never as many.
 */
function leastCost({ seen, further }: View, seats: number, meetsAt: MeetsAt): number {
  // Where not all others are known, everybody may be in company with the unknown ones.
  const company = further === Infinity ? createCompany(seen, seats, meetsAt) : undefined
  let least = Infinity
  // Whoever plays together might as well have at the next moment at which somebody comes or leaves, himself included.
  for (const moment of new Set(seen.flatMap(({ from, until }) => [from, until]))) {
    const there = seen.filter(({ from, until }) => from <= moment && moment <= until)
    const bound = averageCost(there, seats, further)
    if (bound >= least) continue
    least = Math.min(least, company === undefined ? bound : averageCost(company(there, moment), seats, further))
  }
  return least
}

/** The average cost of the cheapest, who come first. */
function averageCost(there: readonly Seen[], seats: number, further: number): number {
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

/** The most others of whom it is looked at which of them may meet each other. */
const MOST_COMPARED = 256

/** Another ticket, and the time in which both could have been matched. */
interface Seen {
  readonly other: Present
  readonly cost: number
  readonly from: number
  readonly until: number
}

/** The cheapest others, in the order of their cost. All further ones cost at least `further`. */
interface View {
  readonly seen: readonly Seen[]
  /** Infinity if there are no further ones. */
  readonly further: number
}

/** @param costs of each of the others. */
function viewOf(own: Present, others: readonly Present[], costs: Float64Array, meetsAt: MeetsAt): View {
  const most = MOST_COMPARED + 1
  const seen: Seen[] = []
  for (const [at, other] of others.entries()) {
    const cost = costs[at] as number
    const isFull = seen.length === most
    if (other === own || (isFull && cost >= (seen[most - 1] as Seen).cost)) continue
    const from = meetsAt(own, other)
    const until = Math.min(own.until, other.until)
    if (from > until) continue
    if (isFull) seen.pop()
    let place = seen.length
    while (place > 0 && (seen[place - 1] as Seen).cost > cost) place -= 1
    seen.splice(place, 0, { other, cost, from, until })
  }
  return { seen: seen.slice(0, MOST_COMPARED), further: seen[MOST_COMPARED]?.cost ?? Infinity }
}

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
