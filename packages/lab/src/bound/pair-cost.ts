// pure: what is told of what was possible at all
import { EARTH_RADIUS_KM } from '@muster/core/internal'
import type { CompiledQueue } from '@muster/matchmaker/internal'
import { type Entry, gapOf, type MeetsAt, type Present } from './meetings.js'

/**
 * What the matches of a queue cost, and the least that was possible at equal wait: if the same players had been matched
 * anew among themselves, in matches of the same sizes, and nobody had waited longer than he did. The cost of a player
 * is the average over the others in the match: distance, difference and latency to each, in units of the rule's
 * strictest limit, added up. It is plain data.
 */
export interface Bound {
  /**
   * `optimum`: for pairs, the cheapest pairs of the same players, exactly, in windows of the run. `lower bound`: for
   * larger matches, every player with those who suit him best; that this is possible for all at once is not said.
   */
  readonly kind: 'optimum' | 'lower bound'
  /** The rules that cost is made of, and their strictest limits: one unit of cost each. */
  readonly units: readonly BoundUnit[]
  /** The players looked at, and their share of all whom the queue matched with others. */
  readonly players: number
  readonly share: number
  /** Cost per player of the matches that were made. */
  readonly cost: number
  /** The least possible within the queue's own rules: what is above is lost to the algorithm, which cannot foresee. */
  readonly withinRules: number
  /** The least possible if no limit held, save that players with different keys stay apart: what rules cost. */
  readonly anyRules: number
  /** `cost` as a multiple of the two. Null if the least possible is 0, and the cost is not. */
  readonly ratio: number | null
  readonly ratioAnyRules: number | null
}

export interface BoundUnit {
  readonly rule: string
  readonly limit: number
  /** `km`, `ms`; empty for plain numbers. */
  readonly unit: string
}

/** Of two tickets, from 0 for the same place, values and servers next door. What is not known counts 1. */
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

/** The difference that the rule limits, of two tickets with a low and a high value each. */
function apartBy(one: Entry, other: Entry, low: number, unit: number): number {
  const apart = gapOf(one, other, low)
  return Number.isNaN(apart) ? 1 : apart / unit
}

function kmApart({ place: one }: Entry, { place: other }: Entry, unit: number): number {
  if (one === undefined || other === undefined) return 1
  // Math.hypot takes many times as long.
  const chord = Math.sqrt((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2)
  return (2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, chord / 2))) / unit
}

/** The tickets of a match. */
export type Members = readonly Present[]

/**
 * Up to `most` windows of whole matches, of at most `size` tickets each. Their first matches are evenly spread over the
 * run. To each belong the matches nearest to it of those made before and after: as the players of a window are to be
 * matched among themselves only, they have to be about as many to choose from as there were in the run.
 *
 * @param matches in the order in which they were made.
 * @param met how many others a ticket meets while it waits.
 */
export function windowsOf(
  matches: readonly Members[],
  { size, most, met, costOf }: { size: number; most: number; met: number; costOf: PairCost },
): (readonly Members[])[] {
  const tickets = matches.reduce((sum, members) => sum + members.length, 0)
  const wanted = Math.min(most, Math.ceil(tickets / size))
  const each = tickets / Math.max(1, matches.length)
  const around = Math.ceil(Math.max(size, 2 * met) / each / 2)
  return Array.from({ length: wanted }, (_, at) => {
    const middle = Math.floor(((at + 0.5) * matches.length) / wanted)
    const first = matches[middle]?.[0] as Present
    const from = Math.max(0, Math.min(middle - around, matches.length - 2 * around))
    const near = matches
      .slice(from, from + 2 * around)
      .map((members) => ({ members, cost: costOf(first.entry, (members[0] as Present).entry) }))
      .toSorted((one, other) => one.cost - other.cost)
    return near.slice(0, Math.max(1, Math.floor(size / each))).map(({ members }) => members)
  })
}

export interface BoundTerms {
  readonly costOf: PairCost
  /** When two tickets could meet within the rules, and without limits. */
  readonly withinRules: MeetsAt
  readonly anyRules: MeetsAt
}

/** Sums over the players looked at. */
export interface Found {
  readonly players: number
  /** All players who might have been looked at. */
  readonly all: number
  readonly cost: number
  readonly withinRules: number
  readonly anyRules: number
}
