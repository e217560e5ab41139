// pure: rules that say of any two tickets whether they may meet
import { type TimedLimits, timedCounts } from './levels.js'
import type { Checked, RuleBase, Scope } from './rule-base.js'
import type { Facts, RuleChecks, RuleContext, Teams } from './rule-types.js'

/** Whether two tickets may meet, whatever else is in the match. */
type Allows = (one: Facts, other: Facts) => boolean

/** Compiles a rule about any two tickets of a match. */
export function compilePairwise(rule: Checked<RuleBase>, { levels }: RuleContext, allows: Allows): RuleChecks {
  const counts = timedCounts(rule, levels)
  const pair = (one: Facts, other: Facts, level: number) => counts.ofPair(level) === 0 || allows(one, other)
  if (counts.inPairs) return { pair }
  return { pair, whole: (teams, match) => counts.ofMatch(match) === 0 || allPairs(teams.flat(), allows) }
}

/**
 * Compiles a rule about any two tickets of a match or, by its scope, of a team: then tickets of different teams always
 * pass. With a single team, both scopes mean the same.
 */
export function compileInScope(
  scope: Scope,
  rule: Checked<RuleBase>,
  context: RuleContext,
  allows: Allows,
): RuleChecks {
  if (scope === 'match' || context.teams.length === 1) return compilePairwise(rule, context, allows)
  const counts = timedCounts(rule, context.levels)
  const inEach = (teams: Teams) => teams.every((team) => allPairs(team, allows))
  return {
    part: (teams, _, match) => counts.ofPart(match) === 0 || inEach(teams),
    whole: (teams, match) => counts.ofMatch(match) === 0 || inEach(teams),
  }
}

/**
 * Compiles a rule about how far two tickets are apart as a check of pairs: for inner rules, which cannot use the
 * kernel's columns.
 * @param limit the most that the two may be apart; Infinity where the rule does not count.
 * @param isWithin also called with a ticket and itself.
 */
export function compileApart(
  limit: TimedLimits,
  isWithin: (one: Facts, other: Facts, most: number) => boolean,
): RuleChecks {
  const fits = (one: Facts, other: Facts, most: number) => most === Infinity || isWithin(one, other, most)
  return {
    pair: (one, other, level) => fits(one, other, limit.ofPair(level)),
    whole: (teams, match) => {
      const most = limit.ofMatch(match)
      const members = teams.flat()
      return members.every((one) => fits(one, one, most)) && allPairs(members, (one, other) => fits(one, other, most))
    },
  }
}

export function allPairs(members: readonly Facts[], allows: Allows): boolean {
  return members.every((one, index) => members.every((other, later) => later <= index || allows(one, other)))
}
