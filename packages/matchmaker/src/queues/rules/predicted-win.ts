// pure: the probability that one team beats another, from the ratings of their players
import {
  type Missing,
  type Facts,
  type Refuse,
  type RuleTicket,
  type Tally,
  tallyOf,
  valuesOf,
  type ValueType,
  type WantedValue,
} from '../rule-parts/index.js'

/** A rating: a normally distributed skill. */
export interface RatingValue {
  /** The mean of the skill, within ±1e9. */
  readonly mean: number
  /** The standard deviation, above 0 and up to 1e9. */
  readonly uncertainty: number
}

/** openskill's default beta: half of the initial sigma (25/3). */
export const DEFAULT_BETA = 25 / 6

/**
 * Returns the lead of one team in standard deviations: the difference of the teams' sums of means, divided by its
 * standard deviation. The deviation includes that of each team's performance in a match (β). Φ of the lead is the
 * probability that the team wins. It equals `predictWin` of openskill for two teams, after R. C. Weng and C.-J. Lin, A
 * Bayesian Approximation Method for Online Ranking, JMLR 12 (2011), section 3.
 */
export const leadOf = (gap: number, variance: number, beta: number): number =>
  gap === 0 ? 0 : gap / Math.sqrt(2 * beta ** 2 + variance)

/** Leads beyond this have a Φ of 1 in double precision. */
const CERTAIN = 9

/**
 * Returns Φ, the distribution function of the standard normal distribution, by its series (G. Marsaglia, Evaluating the
 * Normal Distribution, Journal of Statistical Software 11 (2004), issue 4): exact to about 15 decimals.
 */
export function chanceAt(lead: number): number {
  if (Math.abs(lead) >= CERTAIN) return lead > 0 ? 1 : 0
  let [sum, before, term] = [lead, 0, lead]
  for (let odd = 3; sum !== before; odd += 2) {
    term *= lead ** 2 / odd
    before = sum
    sum += term
  }
  const chance = 0.5 + (sum * Math.exp(-(lead ** 2) / 2)) / Math.sqrt(2 * Math.PI)
  // From a lead of 7.5 on, rounding can give a probability of up to 7e-16 above 1.
  return Math.min(1, Math.max(0, chance))
}

/** Returns the lead at which a team wins with this probability: 0 up to 0.5, Infinity at 1 and above. */
export function leadAt(chance: number): number {
  if (chance <= 0.5) return 0
  if (chance >= 1) return Infinity
  let [low, high] = [0, CERTAIN]
  for (;;) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) return low
    if (chanceAt(middle) > chance) high = middle
    else low = middle
  }
}

/**
 * Returns the probability that one team beats another, from 0 to 1, as in a `balance` rule with `measure:
 * 'predictedWin'`. Draws are not considered.
 * @param beta variation of a team's performance, as in the rule. Default 25 / 6.
 */
export function predictedWin(one: readonly RatingValue[], other: readonly RatingValue[], beta = DEFAULT_BETA): number {
  const sum = (team: readonly RatingValue[]) => team.reduce((total, { mean }) => total + mean, 0)
  const variance = [...one, ...other].reduce((total, { uncertainty }) => total + uncertainty ** 2, 0)
  return chanceAt(leadOf(sum(one) - sum(other), variance, beta))
}

/** The ratings of a ticket's players: the tally of their means, and the sum and the greatest of their variances. */
export interface Ratings extends Tally {
  readonly variance: number
  readonly mostVariance: number
}

/**
 * Maximum absolute value of a rating (our choice). Up to it, no sum of squares overflows. An overflow would hide how
 * uneven teams are.
 */
const MOST_RATING = 1e9
const A_MEAN: ValueType<number> = {
  called: 'a number within ±1e9',
  is: (value): value is number => typeof value === 'number' && Math.abs(value) <= MOST_RATING,
}
const AN_UNCERTAINTY: ValueType<number> = {
  called: 'a number above 0, 1e9 at most',
  is: (value): value is number => typeof value === 'number' && value > 0 && value <= MOST_RATING,
}

/**
 * Creates the function that returns the greatest variance of any player. It caches the last result, as `createExtremes`
 * does.
 */
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

interface WantedRatings {
  /** Names of the attributes that hold a rating's mean and uncertainty. */
  readonly mean: string
  readonly uncertainty: string
  readonly missing: Missing<RatingValue> | undefined
  /** Name of the rule, for errors. */
  readonly rule: string
}

/** Creates the reader of a ticket's ratings. It throws what `refuse` creates if a rating is missing or invalid. */
export function ratingsReader({ mean, uncertainty, missing, rule }: WantedRatings) {
  const standIn = typeof missing === 'object' ? missing.value : undefined
  const wanted = (attribute: string, type: ValueType<number>, value: number | undefined): WantedValue<number> => ({
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
