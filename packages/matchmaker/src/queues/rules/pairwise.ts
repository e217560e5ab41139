// pure: rules that say of any two tickets whether they may meet
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { Facts, Teams } from './facts.js'
import type { Rule } from './rule.js'
import { isSteady, timingOf } from './timing.js'

/** @param counts at each level 1 where the rule counts, 0 where not. */
export function compilePairwise(
  rule: Rule,
  { levels }: RuleContext,
  counts: Float64Array,
  allows: (one: Facts, other: Facts) => boolean,
): CompiledRule {
  const timing = timingOf(rule, levels, isSteady(levels, counts))
  const pair = (one: Facts, other: Facts, level: number) => counts[timing.ofPair(level)] === 0 || allows(one, other)
  if (timing.inPairs) return { rule, pair }
  return { rule, pair, whole: (teams, match) => counts[timing.ofMatch(match)] === 0 || allPairs(teams, allows) }
}

function allPairs(teams: Teams, allows: (one: Facts, other: Facts) => boolean): boolean {
  const members = teams.flat()
  return members.every((one, index) => members.every((other, later) => later <= index || allows(one, other)))
}
