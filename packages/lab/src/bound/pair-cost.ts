// pure: the cost of a pair, for the bound on possible matches
import { EARTH_RADIUS_KM } from '@muster/core/internal'
import type { CompiledQueue } from '@muster/matchmaker/internal'
import { type Entry, gapOf, type MeetsAt, type PresentTicket } from './meetings.js'

/**
 * The cost of a queue's matches, and the minimum possible cost. The minimum is over all ways to match the same players
 * in matches of the same sizes, without longer waits. The cost of a player is the average over the others in the match.
 * It adds up distance, difference and latency to each of them, in units of the rules' strictest limits. Plain data.
 */
export interface Bound {
  /**
   * `optimum`: for matches of two, the exact cost of the cheapest pairs of the same players, in windows of the run.
   * `lower bound`: for larger matches, the cost if every player had the best others, which may not be possible for all
   * players at once.
   */
  readonly kind: 'optimum' | 'lower bound'
  /** The rules that make up the cost. The strictest limit of each is one unit of cost. */
  readonly units: readonly BoundUnit[]
  /** Number of sampled players, and their share of all players whom the queue matched with others. */
  readonly players: number
  readonly share: number
  /** Cost per player of the actual matches. */
  readonly cost: number
  /**
   * Minimum cost per player within the queue's own rules. The algorithm causes the difference to `cost`, because it
   * cannot know the future.
   */
  readonly withinRules: number
  /**
   * Minimum cost per player if no limits applied, except that players of different keys stay apart. The rules cause the
   * difference to `withinRules`.
   */
  readonly anyRules: number
  /** `cost` divided by `withinRules`, and by `anyRules`. Null if the minimum is 0 and the cost is not. */
  readonly ratio: number | null
  readonly ratioAnyRules: number | null
}

export interface BoundUnit {
  readonly rule: string
  readonly limit: number
  /** Unit of the limit: `km` or `ms`; empty for plain numbers. */
  readonly unit: string
}

/**
 * Returns the cost between two tickets. It is 0 for the same location, the same values and nearby servers. An unknown
 * value costs 1.
 */
export type PairCost = (one: Entry, other: Entry) => number

export function createPairCost({ rules }: CompiledQueue, units: readonly BoundUnit[]): PairCost {
  let spans = 0
  const parts = rules.flatMap((compiled): PairCost[] => {
    const span = compiled.span === undefined ? undefined : spans++
    const unit = units.find(({ rule }) => rule === compiled.rule.name)
    if (unit === undefined) return []
    if (span !== undefined) return [(one, other) => apartBy(one, other, 2 * span, unit.limit)]
    if (compiled.radius !== undefined) return [(one, other) => kmApart(one, other, unit.limit)]
    const { measure } = compiled
    return measure === undefined ? [] : [(one, other) => (measure(one.facts, other.facts) ?? unit.limit) / unit.limit]
  })
  const [first = () => 0, second] = parts
  if (second === undefined) return first
  if (parts.length === 2) return (one, other) => first(one, other) + second(one, other)
  return (one, other) => parts.reduce((sum, part) => sum + part(one, other), 0)
}

/** Returns the difference that a rule limits, in units. Each ticket has a low and a high value. */
function apartBy(one: Entry, other: Entry, low: number, unit: number): number {
  const apart = gapOf(one, other, low)
  return Number.isNaN(apart) ? 1 : apart / unit
}

function kmApart({ place: one }: Entry, { place: other }: Entry, unit: number): number {
  if (one === undefined || other === undefined) return 1
  // Uses a square root, because Math.hypot takes several times as long.
  const chord = Math.sqrt((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2)
  return (2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, chord / 2))) / unit
}

/** The tickets of one match. */
export type MatchTickets = readonly PresentTicket[]

/**
 * Selects up to `most` windows of whole matches, with at most `size` tickets each. Their first matches are evenly
 * spread over the run. A window contains the matches most similar to its first one, among those made shortly before and
 * after it. The players of a window are matched only among themselves. Similar matches of the same time leave them
 * about as many alternatives as in the run.
 *
 * @param matches in order of creation.
 * @param met average number of other tickets that wait at the same time as a ticket.
 */
export function windowsOf(
  matches: readonly MatchTickets[],
  { size, most, met, costOf }: { size: number; most: number; met: number; costOf: PairCost },
): (readonly MatchTickets[])[] {
  const tickets = matches.reduce((sum, members) => sum + members.length, 0)
  const wanted = Math.min(most, Math.ceil(tickets / size))
  const each = tickets / Math.max(1, matches.length)
  const around = Math.ceil(Math.max(size, 2 * met) / each / 2)
  return Array.from({ length: wanted }, (_, at) => {
    const middle = Math.floor(((at + 0.5) * matches.length) / wanted)
    const first = matches[middle]?.[0] as PresentTicket
    const from = Math.max(0, Math.min(middle - around, matches.length - 2 * around))
    const near = matches
      .slice(from, from + 2 * around)
      .map((members) => ({ members, cost: costOf(first.entry, (members[0] as PresentTicket).entry) }))
      .toSorted((one, other) => one.cost - other.cost)
    return near.slice(0, Math.max(1, Math.floor(size / each))).map(({ members }) => members)
  })
}

export interface BoundTerms {
  readonly costOf: PairCost
  /** Return the moment from which two tickets could be matched: within the rules, and without limits. */
  readonly withinRules: MeetsAt
  readonly anyRules: MeetsAt
}

/** Sums over the sampled players. */
export interface PairCosts {
  readonly players: number
  /** Number of players that could have been sampled. */
  readonly all: number
  readonly cost: number
  readonly withinRules: number
  readonly anyRules: number
}
