// pure: numbers of many players, made into one
import type { Facts } from './facts.js'

/** The numbers of a ticket's players, reduced to what every aggregate needs. */
export interface Tally {
  readonly count: number
  readonly sum: number
  readonly min: number
  readonly max: number
}

export type Aggregate = 'avg' | 'min' | 'max' | 'sum'

export function tallyOf(values: readonly number[]): Tally {
  let [sum, min, max] = [0, Infinity, -Infinity]
  for (const value of values) {
    sum += value
    if (value < min) min = value
    if (value > max) max = value
  }
  return { count: values.length, sum, min, max }
}

/** The values that an aggregate can reach. */
export interface Range {
  readonly low: number
  readonly high: number
}

export const ANYTHING: Range = { low: -Infinity, high: Infinity }
/** Relative tolerance, so that rounding excludes nothing that is exactly at the limit. */
const ROUNDING = 1e-9

/**
 * Returns the least and the greatest number of any player. The last result is kept, because a search asks many times
 * about the same list.
 */
export function createExtremes(rule: number): (others: readonly Facts[]) => Range {
  let last: readonly Facts[] | undefined
  let extremes = ANYTHING
  return (others) => {
    if (others === last) return extremes
    let [low, high] = [Infinity, -Infinity]
    for (const { of } of others) {
      const { min, max } = of[rule] as Tally
      if (min < low) low = min
      if (max > high) high = max
    }
    last = others
    extremes = { low, high }
    return extremes
  }
}

/**
 * The range that a team's aggregate can reach when up to `room` more players join, each with a number between the
 * extremes or with none.
 */
export function rangeOf(
  team: readonly Facts[],
  rule: number,
  aggregate: Aggregate,
  room: number,
  { low: least, high: most }: Range,
): Range {
  const own = aggregateOf(team, rule, aggregate)
  if (room === 0 || least > most) return Number.isNaN(own) ? ANYTHING : { low: own, high: own }
  if (Number.isNaN(own)) return ANYTHING
  if (aggregate === 'min') return { low: Math.min(own, least), high: own }
  if (aggregate === 'max') return { low: own, high: Math.max(own, most) }
  if (aggregate === 'sum') return widened(own + Math.min(0, room * least), own + Math.max(0, room * most))
  const count = team.reduce((sum, { of }) => sum + (of[rule] as Tally).count, 0)
  const joinedBy = (value: number) => (own * count + room * value) / (count + room)
  return widened(Math.min(own, joinedBy(least)), Math.max(own, joinedBy(most)))
}

const widened = (low: number, high: number): Range => ({
  low: low - ROUNDING * Math.abs(low),
  high: high + ROUNDING * Math.abs(high),
})

/** The aggregate over all players of a team who have a number; NaN if none has, except for a sum. */
export function aggregateOf(team: readonly Facts[], rule: number, aggregate: Aggregate): number {
  let [count, sum, min, max] = [0, 0, Infinity, -Infinity]
  for (const facts of team) {
    const tally = facts.of[rule] as Tally
    count += tally.count
    sum += tally.sum
    if (tally.min < min) min = tally.min
    if (tally.max > max) max = tally.max
  }
  if (aggregate === 'sum') return sum
  if (count === 0) return Number.NaN
  return aggregate === 'avg' ? sum / count : aggregate === 'min' ? min : max
}
