// pure: numbers of many players, made into one
import type { Facts } from './facts.js'

/** The numbers of a ticket's players: enough for every aggregate. */
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

/** Over all players of a team who have a number; not a number where none has, except for a sum. */
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
