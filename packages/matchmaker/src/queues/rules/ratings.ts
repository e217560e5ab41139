// pure: what a rule reads of the ratings of a ticket's players
import type { RatingValue } from './balance-definition.js'
import type { Facts, Refuse, RuleTicket } from './facts.js'
import type { Missing } from './rule-base.js'
import { tallyOf, type Tally } from './tally.js'
import { valuesOf, type ValueType, type Wanted } from './values.js'

/** The ratings of a ticket's players: the tally of their means, and the sum and the greatest of their variances. */
export interface Ratings extends Tally {
  readonly variance: number
  readonly mostVariance: number
}

/** Bounds of ratings (our choice): no sum of squares overflows, which would hide how uneven teams are. */
const MOST = 1e9
const A_MEAN: ValueType<number> = {
  called: 'a number within ±1e9',
  is: (value): value is number => typeof value === 'number' && Math.abs(value) <= MOST,
}
const AN_UNCERTAINTY: ValueType<number> = {
  called: 'a number above 0, 1e9 at most',
  is: (value): value is number => typeof value === 'number' && value > 0 && value <= MOST,
}

/** Returns the greatest variance of any player. The last result is kept, as by `createExtremes`. */
export function createMostVariance(rule: number): (others: readonly Facts[]) => number {
  let last: readonly Facts[] | undefined
  let most = 0
  return (others) => {
    if (others === last) return most
    last = others
    most = 0
    for (const { of } of others) most = Math.max(most, (of[rule] as Ratings).mostVariance)
    return most
  }
}

export interface WantedRatings {
  /** Names of the attributes. */
  readonly mean: string
  readonly uncertainty: string
  readonly missing: Missing<RatingValue> | undefined
  /** Name of the rule, for errors. */
  readonly rule: string
}

/** Makes the reader of a ticket's ratings, which throws what `refuse` makes if one is missing or cannot be. */
export function ratingsReader({ mean, uncertainty, missing, rule }: WantedRatings) {
  const standIn = typeof missing === 'object' ? missing.value : undefined
  const wanted = (attribute: string, type: ValueType<number>, value: number | undefined): Wanted<number> => ({
    attribute,
    type,
    missing: value === undefined ? 'refuse' : { value },
    rule,
  })
  const wantedMean = wanted(mean, A_MEAN, standIn?.mean)
  const wantedUncertainty = wanted(uncertainty, AN_UNCERTAINTY, standIn?.uncertainty)
  return (ticket: RuleTicket, refuse: Refuse): Ratings => {
    const means = valuesOf(ticket, wantedMean, refuse)
    const squares = valuesOf(ticket, wantedUncertainty, refuse).map((value) => value ** 2)
    const { sum, max } = tallyOf(squares)
    return { ...tallyOf(means), variance: sum, mostVariance: max }
  }
}
