// pure: the balance rule
import { compilePredictedWin } from './balance-by-predicted-win.js'
import type { BalanceRule } from './balance-definition.js'
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { Facts, Teams } from './facts.js'
import { tableOf } from './levels.js'
import { strictest } from './relaxing.js'
import type { Missing } from './rule-base.js'
import type { Rule } from './rule.js'
import { aggregateOf, createExtremes, rangeOf, tallyOf } from './tally.js'
import { isSteady, timingOf } from './timing.js'
import { A_NUMBER, valuesOf, type Wanted } from './values.js'

export const compileBalance = (rule: Rule & BalanceRule, context: RuleContext): CompiledRule =>
  rule.measure === 'predictedWin' ? compilePredictedWin(rule, context) : compileSpread(rule, context)

function compileSpread(rule: Rule & BalanceRule, { index, levels }: RuleContext): CompiledRule {
  const { attribute = '', aggregate = 'avg', max } = rule
  const missing = rule.missing as Missing<number> | undefined
  const limit = tableOf(levels, max, Infinity, rule)
  const timing = timingOf(rule, levels, isSteady(levels, limit))
  const wanted: Wanted<number> = { attribute, type: A_NUMBER, missing, rule: rule.name }
  /**
   * The difference between the highest and the lowest team. Teams in which no player has the attribute are left out.
   */
  const spreadOf = (teams: Teams) => {
    let [low, high] = [Infinity, -Infinity]
    for (const team of teams) {
      const value = aggregateOf(team, index, aggregate)
      if (value < low) low = value
      if (value > high) high = value
    }
    return high > low ? high - low : 0
  }
  const extremesOf = createExtremes(index)
  /** The least spread that is still possible: how far the reachable ranges of two teams are apart. */
  const leastSpreadOf = (teams: Teams, roomOf: readonly number[], others: readonly Facts[]) => {
    const extremes = extremesOf(others)
    let [low, high] = [Infinity, -Infinity]
    for (const [team, members] of teams.entries()) {
      const range = rangeOf(members, index, aggregate, roomOf[team] ?? 0, extremes)
      if (range.high < low) low = range.high
      if (range.low > high) high = range.low
    }
    return high - low
  }
  // The unevenness is given in units of the limit, so that several balance rules of a queue weigh the same.
  const unit = strictest(max) || 1
  return {
    rule,
    factOf: (ticket, refuse) => tallyOf(valuesOf(ticket, wanted, refuse)),
    part: (teams, roomOf, wait, others) =>
      others === undefined || leastSpreadOf(teams, roomOf, others) <= (limit[timing.ofPart(wait)] ?? Infinity),
    whole: (teams, match) => spreadOf(teams) <= (limit[timing.ofMatch(match)] ?? Infinity),
    unevenness: (teams) => spreadOf(teams) / unit,
  }
}
