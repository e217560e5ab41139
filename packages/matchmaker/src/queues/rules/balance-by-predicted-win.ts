// pure: the balance rule that goes by the predicted winner
import type { BalanceRule, RatingValue } from './balance-definition.js'
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { Facts, Teams } from './facts.js'
import { tableOf } from './levels.js'
import { DEFAULT_BETA, leadAt, leadOf } from './predicted-win.js'
import { createMostVariance, ratingsReader, type Ratings } from './ratings.js'
import { strictest } from './relaxing.js'
import type { Missing } from './rule-base.js'
import type { Rule } from './rule.js'
import { createExtremes, rangeOf } from './tally.js'
import { isSteady, timingOf } from './timing.js'

export function compilePredictedWin(
  rule: Rule & BalanceRule,
  { index, levels, teams: { length: count } }: RuleContext,
): CompiledRule {
  const { name, mean = '', uncertainty = '', beta = DEFAULT_BETA, max } = rule
  const missing = rule.missing as Missing<RatingValue> | undefined
  // Limits are leads instead of probabilities: of teams that will certainly lose, it tells which is nearer.
  const limit = tableOf(levels, max, Infinity, rule).map(leadAt)
  const timing = timingOf(rule, levels, isSteady(levels, limit))
  // Of each team, the least and the greatest sum of means, and the variance: filled anew for each arrangement.
  const [lows, highs, variances] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)]

  /** Fills the tables from the members of the teams. A team without any is NaN, and leads nobody. */
  const sumUp = (teams: Teams): void => {
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
  const extremesOf = createExtremes(index)
  const mostVarianceOf = createMostVariance(index)
  /** Widens the tables by what each team can reach when up to so many of the others join it. */
  const widen = (teams: Teams, roomOf: readonly number[], others: readonly Facts[]): void => {
    const extremes = extremesOf(others)
    const variance = mostVarianceOf(others)
    for (let team = 0; team < count; team += 1) {
      const members = teams[team] as readonly Facts[]
      const room = roomOf[team] ?? 0
      if (room === 0 || members.length === 0) continue
      const { low, high } = rangeOf(members, index, 'sum', room, extremes)
      lows[team] = low
      highs[team] = high
      variances[team] = (variances[team] as number) + room * variance
    }
  }
  /** The greatest lead of any team over another by the tables. */
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
  const leadIn = (teams: Teams): number => {
    sumUp(teams)
    return greatestLead()
  }
  const leastLeadIn = (teams: Teams, roomOf: readonly number[], others: readonly Facts[]): number => {
    sumUp(teams)
    widen(teams, roomOf, others)
    return greatestLead()
  }
  // The unevenness is given in units of the limit, so that several balance rules of a queue weigh the same.
  const strictestLead = leadAt(strictest(max))
  const unit = strictestLead > 0 && strictestLead < Infinity ? strictestLead : 1
  return {
    rule,
    factOf: ratingsReader({ rule: name, mean, uncertainty, missing }),
    part: (teams, roomOf, wait, others) =>
      others === undefined || leastLeadIn(teams, roomOf, others) <= (limit[timing.ofPart(wait)] ?? Infinity),
    whole: (teams, match) => leadIn(teams) <= (limit[timing.ofMatch(match)] ?? Infinity),
    unevenness: (teams) => leadIn(teams) / unit,
  }
}
