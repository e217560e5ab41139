// pure: rules that say of any two tickets whether they may meet
import { isSteady, timingOf } from './levels.js'
import type { Checked, RuleBase, Scope } from './rule-base.js'
import type { Facts, RuleChecks, RuleContext, Teams } from './rule-types.js'

/** Whether two tickets may meet, whatever else is in the match. */
type Allows = (one: Facts, other: Facts) => boolean

/**
 * Compiles a rule about any two tickets of a match. @param counts at each level, 1 where the rule counts and 0 where
 * not.
 */
export function compilePairwise(
  rule: Checked<RuleBase>,
  { levels }: RuleContext,
  counts: Float64Array,
  allows: Allows,
): RuleChecks {
  const timing = timingOf(rule, levels, isSteady(levels, counts))
  const pair = (one: Facts, other: Facts, level: number) => counts[timing.ofPair(level)] === 0 || allows(one, other)
  if (timing.inPairs) return { pair }
  return { pair, whole: (teams, match) => counts[timing.ofMatch(match)] === 0 || allPairs(teams.flat(), allows) }
}

/** Compiles a rule about any two tickets of a team; tickets of different teams always pass. */
function compileWithinTeams(
  rule: Checked<RuleBase>,
  { levels }: RuleContext,
  counts: Float64Array,
  allows: Allows,
): RuleChecks {
  const timing = timingOf(rule, levels, isSteady(levels, counts))
  const inEach = (teams: Teams) => teams.every((team) => allPairs(team, allows))
  return {
    part: (teams, _, match) => counts[timing.ofPart(match)] === 0 || inEach(teams),
    whole: (teams, match) => counts[timing.ofMatch(match)] === 0 || inEach(teams),
  }
}

/** Compiles a rule for its scope. With a single team, both scopes mean the same. */
export const compileInScope = (
  scope: Scope,
  rule: Checked<RuleBase>,
  context: RuleContext,
  counts: Float64Array,
  allows: Allows,
): RuleChecks =>
  (scope === 'match' || context.teams.length === 1 ? compilePairwise : compileWithinTeams)(
    rule,
    context,
    counts,
    allows,
  )

/**
 * Compiles a rule about how far two tickets are apart as a check of pairs: for inner rules, which cannot use the
 * kernel's columns.
 * @param limit at each level, the most that the two may be apart; Infinity where the rule does not count.
 * @param isWithin also called with a ticket and itself.
 */
export function compileApart(
  rule: Checked<RuleBase>,
  { levels }: RuleContext,
  limit: Float64Array,
  isWithin: (one: Facts, other: Facts, most: number) => boolean,
): RuleChecks {
  const timing = timingOf(rule, levels, isSteady(levels, limit))
  const fits = (one: Facts, other: Facts, most: number | undefined = Infinity) =>
    most === Infinity || isWithin(one, other, most)
  return {
    pair: (one, other, level) => fits(one, other, limit[timing.ofPair(level)]),
    whole: (teams, match) => {
      const most = limit[timing.ofMatch(match)]
      const members = teams.flat()
      return members.every((one) => fits(one, one, most)) && allPairs(members, (one, other) => fits(one, other, most))
    },
  }
}

export function allPairs(members: readonly Facts[], allows: Allows): boolean {
  return members.every((one, index) => members.every((other, later) => later <= index || allows(one, other)))
}
