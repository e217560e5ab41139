import { z } from 'zod'
import type {
  RelaxingLimit,
  Checked,
  Missing,
  RuleBase,
  Facts,
  RuleChecks,
  RuleContext,
  TeamMembers,
  Tally,
  WantedValue,
} from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'
import {
  createMostVariance,
  DEFAULT_BETA,
  leadAt,
  leadOf,
  type Ratings,
  ratingsReader,
  type RatingValue,
} from './predicted-win.js'

/**
 * The teams are even. With `difference`, an aggregate of their players differs by at most `max`. With
 * `measure: 'predictedWin'`, no team beats another with a predicted probability above `max`. If team sizes may vary,
 * the numbers of players are first made as even as parties, sizes and other rules allow. Among these arrangements, the
 * one that satisfies this rule best is chosen.
 */
export interface BalanceRule extends RuleBase {
  readonly kind: 'balance'
  /**
   * How every two teams are compared. `difference` (default): by the `aggregate` of an `attribute`. `predictedWin`: by
   * the probability that one team beats the other, from the `mean` and `uncertainty` of each player's rating.
   */
  readonly measure?: 'difference' | 'predictedWin' | undefined
  /**
   * For `difference`: name of a number attribute, or `PARTY_SIZE`. With `PARTY_SIZE` and `aggregate: 'max'`, the teams'
   * largest parties are of similar size.
   */
  readonly attribute?: string | undefined
  /** For `difference`: how the numbers of a team's players are combined. Default `avg`. */
  readonly aggregate?: 'avg' | 'sum' | 'min' | 'max' | undefined
  /** For `predictedWin`: attribute with a rating's mean, e.g. openskill's `mu`, within ±1e9. */
  readonly mean?: string | undefined
  /** For `predictedWin`: attribute of a rating's standard deviation, e.g. openskill's `sigma`, above 0 up to 1e9. */
  readonly uncertainty?: string | undefined
  /**
   * For `predictedWin`: variation of a team's performance between matches, as a standard deviation on the scale of the
   * ratings. Default 25 / 6, openskill's default for ratings that begin at 25. Use 250 for ratings that begin at 1500.
   */
  readonly beta?: number | undefined
  /** Maximum difference. With `predictedWin`: maximum probability, from 0.5 to 1. */
  readonly max: RelaxingLimit
  /**
   * What happens with players without the attribute. `refuse` (default): their tickets are refused when created. `any`:
   * the rule ignores these players. `{ value }`: they count as having this value. With `predictedWin`, `any` is not
   * allowed, and `value` is a rating, whose fields replace missing attributes.
   */
  readonly missing?: Missing<number | RatingValue> | undefined
}

const MOST_RATING = 1e9
const deviation = z.number().positive().max(MOST_RATING)
const rating = z.strictObject({ mean: z.number().min(-MOST_RATING).max(MOST_RATING), uncertainty: deviation })

const limits = {
  difference: parts.limitCheck(parts.notNegative, 'rises'),
  predictedWin: parts.limitCheck(z.number().min(0.5).max(1), 'rises'),
}

/** Fields that each `measure` does not allow, because they belong to the other `measure`. */
const NOT_FOR = {
  difference: ['mean', 'uncertainty', 'beta'],
  predictedWin: ['attribute', 'aggregate'],
} as const

export const balanceSchema = z
  .strictObject({
    kind: z.literal('balance'),
    ...parts.base,
    measure: z.enum(['difference', 'predictedWin']).optional(),
    attribute: parts.textSchema.optional(),
    aggregate: z.enum(['avg', 'sum', 'min', 'max']).optional(),
    mean: parts.textSchema.optional(),
    uncertainty: parts.textSchema.optional(),
    beta: deviation.optional(),
    max: z
      .custom<RelaxingLimit>((value) => value !== undefined, 'must be given')
      .meta({
        get anyOf() {
          return parts.limitForms(parts.notNegative)
        },
      }),
    missing: parts.missingSchema(z.union([parts.finite, rating])),
  })
  .superRefine((rule, context) => {
    const { measure = 'difference' } = rule
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    for (const key of measure === 'difference' ? (['attribute'] as const) : (['mean', 'uncertainty'] as const)) {
      if (rule[key] === undefined) refuse([key], `must be given where measure is ${JSON.stringify(measure)}`)
    }
    for (const key of NOT_FOR[measure]) {
      if (rule[key] !== undefined) refuse([key], `is not used where measure is ${JSON.stringify(measure)}`)
    }
    const problem = limits[measure](rule.max)
    if (problem !== undefined) refuse(['max', ...problem.path], problem.message)
    checkMissing(rule, refuse)
    if (rule.mean !== undefined && rule.mean === rule.uncertainty)
      refuse(['uncertainty'], 'must be another attribute than the mean')
  })
  .meta({ oneOf: [{ required: ['attribute'] }, { required: ['measure', 'mean', 'uncertainty'] }] })

function checkMissing(
  { measure = 'difference', missing: given }: Pick<BalanceRule, 'measure' | 'missing'>,
  refuse: (path: PropertyKey[], message: string) => void,
): void {
  if (given === 'any' && measure === 'predictedWin') {
    refuse(['missing'], "must be 'refuse' or { value }: a player left out would make the team look weaker")
  }
  if (typeof given !== 'object') return
  if (measure === 'difference' && typeof given.value !== 'number') refuse(['missing', 'value'], 'must be a number')
  if (measure === 'predictedWin' && typeof given.value !== 'object') {
    refuse(['missing', 'value'], 'must be { mean, uncertainty } of a rating')
  }
}

export const compileBalance = (rule: Checked<BalanceRule>, context: RuleContext): RuleChecks =>
  rule.measure === 'predictedWin' ? compilePredictedWin(rule, context) : compileSpread(rule, context)

/** True if all tickets are in one of several teams, so that nobody plays against them. */
const isOneSided = (teams: TeamMembers): boolean =>
  teams.length > 1 &&
  teams.some((team) => team.length > 1 && teams.every((other) => other === team || other.length === 0))

function compileSpread(rule: Checked<BalanceRule>, { index, levels }: RuleContext): RuleChecks {
  const { attribute = '', aggregate = 'avg', max } = rule
  const missing = rule.missing as Missing<number> | undefined
  const limit = parts.timedLimits(rule, levels, max, Infinity)
  const wanted: WantedValue<number> = { attribute, type: parts.A_NUMBER, missing, rule: rule.name }
  /**
   * Returns the difference between the highest and the lowest team, of the teams in which a player has the attribute.
   */
  const spreadOf = (teams: TeamMembers) => {
    let [low, high] = [Infinity, -Infinity]
    for (const team of teams) {
      const value = parts.aggregateOf(team, index, aggregate)
      if (value < low) low = value
      if (value > high) high = value
    }
    return high > low ? high - low : 0
  }
  const extremesOf = parts.createExtremes(index)
  /** Returns the smallest spread that is still possible: the largest gap between the reachable ranges of two teams. */
  const leastSpreadOf = (teams: TeamMembers, roomOf: readonly number[], others: readonly Facts[]) => {
    const extremes = extremesOf(others)
    let [low, high] = [Infinity, -Infinity]
    for (const [team, members] of teams.entries()) {
      const range = parts.rangeOf(members, index, aggregate, roomOf[team] ?? 0, extremes)
      if (range.high < low) low = range.high
      if (range.low > high) high = range.low
    }
    return high - low
  }
  /**
   * Checks quickly that the limit is kept: true if any two players who are or may be in the match differ by at most the
   * limit.
   */
  const isEven = (teams: TeamMembers, others: readonly Facts[], most: number) => {
    const { low, high } = extremesOf(others)
    const isWithin = ({ of }: Facts) => (of[index] as Tally).min >= low && (of[index] as Tally).max <= high
    return aggregate !== 'sum' && high - low <= most && teams.every((team) => team.every(isWithin))
  }
  // The unevenness is in units of the limit, so that several balance rules of a queue weigh the same.
  const first = parts.strictest(max)
  const unit = first > 0 && first < Infinity ? first : 1
  return {
    factOf: (ticket, refuse) => parts.tallyOf(parts.valuesOf(ticket, wanted, refuse)),
    part: (teams, roomOf, wait, others) => {
      if (others === undefined) return true
      const most = limit.ofPart(wait)
      return isEven(teams, others, most) || leastSpreadOf(teams, roomOf, others) <= most
    },
    whole: (teams, match) =>
      isOneSided(teams) ? limit.ofMatch(match) === Infinity : spreadOf(teams) <= limit.ofMatch(match),
    isBalance: true,
    saysOf: (teams) => teams.filter((team) => team.some(({ of }) => (of[index] as Tally).count > 0)).length > 1,
    unevenness: (teams) => spreadOf(teams) / unit,
  }
}

function compilePredictedWin(
  rule: Checked<BalanceRule>,
  { index, levels, teams: { length: count } }: RuleContext,
): RuleChecks {
  const { name, mean = '', uncertainty = '', beta = DEFAULT_BETA, max } = rule
  const missing = rule.missing as Missing<RatingValue> | undefined
  // Limits are leads (see `leadOf`) instead of probabilities, because probabilities near 1 cannot be told apart.
  const limit = parts.timedLimits(rule, levels, max, Infinity, leadAt)
  // For each team: the minimum and the maximum sum of means, and the variance. They are filled anew for each
  // arrangement.
  const [lows, highs, variances] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)]

  /**
   * Fills the tables from the members of the teams. The sum of an empty team is NaN, so that it leads no other team.
   */
  const sumUp = (teams: TeamMembers): void => {
    for (let team = 0; team < count; team += 1) {
      const members = teams[team] as readonly Facts[]
      let [sum, variance] = [members.length === 0 ? Number.NaN : 0, 0]
      for (const { of } of members) {
        const ratings = of[index] as Ratings
        sum += ratings.sum
        variance += ratings.variance
      }
      lows[team] = sum
      highs[team] = sum
      variances[team] = variance
    }
  }
  const extremesOf = parts.createExtremes(index)
  const mostVarianceOf = createMostVariance(index)
  /** Widens the tables to the values that a team can reach if up to `roomOf[team]` of the others join it. */
  const widen = (teams: TeamMembers, roomOf: readonly number[], others: readonly Facts[]): void => {
    const extremes = extremesOf(others)
    const variance = mostVarianceOf(others)
    for (let team = 0; team < count; team += 1) {
      const members = teams[team] as readonly Facts[]
      const room = roomOf[team] ?? 0
      if (room === 0 || members.length === 0) continue
      const { low, high } = parts.rangeOf(members, index, 'sum', room, extremes)
      lows[team] = low
      highs[team] = high
      variances[team] = (variances[team] as number) + room * variance
    }
  }
  /** Returns the greatest lead of any team over another team, from the tables. */
  const greatestLead = (): number => {
    let greatest = 0
    for (let one = 1; one < count; one += 1) {
      for (let other = 0; other < one; other += 1) {
        const ahead = (lows[one] as number) - (highs[other] as number)
        const behind = (lows[other] as number) - (highs[one] as number)
        const variance = (variances[one] as number) + (variances[other] as number)
        const lead = leadOf(Math.max(ahead, behind), variance, beta)
        if (lead > greatest) greatest = lead
      }
    }
    return greatest
  }
  const leadIn = (teams: TeamMembers): number => {
    sumUp(teams)
    return greatestLead()
  }
  const leastLeadIn = (teams: TeamMembers, roomOf: readonly number[], others: readonly Facts[]): number => {
    sumUp(teams)
    widen(teams, roomOf, others)
    return greatestLead()
  }
  // The unevenness is in units of the limit, so that several balance rules of a queue weigh the same.
  const strictestLead = leadAt(parts.strictest(max))
  const unit = strictestLead > 0 && strictestLead < Infinity ? strictestLead : 1
  return {
    factOf: ratingsReader({ rule: name, mean, uncertainty, missing }),
    part: (teams, roomOf, wait, others) =>
      others === undefined || leastLeadIn(teams, roomOf, others) <= limit.ofPart(wait),
    whole: (teams, match) =>
      isOneSided(teams) ? limit.ofMatch(match) === Infinity : leadIn(teams) <= limit.ofMatch(match),
    isBalance: true,
    saysOf: (teams) => teams.filter((team) => team.length > 0).length > 1,
    unevenness: (teams) => leadIn(teams) / unit,
  }
}

export function balanceWords(rule: BalanceRule): string {
  if (rule.measure === 'predictedWin') return predictedWinWords(rule)
  const { attribute, aggregate = 'avg', max, missing } = rule
  const most = parts.limitWords(max, { lead: 'at most', free: 'any amount' })
  const what = `${parts.MADE[aggregate]} ${parts.attributeWords(attribute)}`
  const unless = parts.missingWords(attribute, missing)
  return `the teams differ in ${what} by ${most}, and are made as even as can be${unless}`
}

const percent = (chance: number) => `${parts.digits(chance * 100)} %`

function predictedWinWords({ mean, uncertainty, beta, max, missing }: BalanceRule): string {
  const lead = 'with a probability of at most'
  const most = parts.limitWords(max, { lead, show: percent, free: 'any', freeAtFirst: 'with any probability' })
  const varies = beta === undefined ? '' : `, where performances vary by ${parts.digits(beta)}`
  return (
    `of any two teams, the favourite is predicted to win ${most}, by ${mean} and its uncertainty ` +
    `${uncertainty}${varies}, and the teams are made as even as can be${unratedWords(missing)}`
  )
}

function unratedWords(missing: BalanceRule['missing']): string {
  if (typeof missing !== 'object') return ''
  const { mean, uncertainty } = missing.value as RatingValue
  return `; players without a rating count as ${parts.digits(mean)} with an uncertainty of ${parts.digits(uncertainty)}`
}
