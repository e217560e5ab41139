// pure: rules about any two tickets of a match
import { type TimedLimits, timedCounts } from './levels.js'
import type { Among, Checked, RuleBase } from './rule-base.js'
import type { Facts, RuleChecks, RuleContext, TeamMembers } from './rule-types.js'

/** Returns whether two tickets may be in one match, regardless of the others. */
type Allows = (one: Facts, other: Facts) => boolean

/** Compiles a rule about any two tickets of a match. */
function compilePairwise(rule: Checked<RuleBase>, { levels }: RuleContext, allows: Allows): RuleChecks {
  const counts = timedCounts(rule, levels)
  const pair = (one: Facts, other: Facts, level: number) => counts.ofPair(level) === 0 || allows(one, other)
  if (counts.inPairs) return { pair }
  return { pair, whole: (teams, match) => counts.ofMatch(match) === 0 || allPairs(teams.flat(), allows) }
}

/**
 * Creates the function that splits the tickets of a match into the groups that a rule compares: the whole match, or
 * each team. Undefined for a rule that compares all players of the match.
 */
export function groupsAmong(
  { scope = 'match', team }: Among,
  { teams }: Pick<RuleContext, 'teams'>,
): ((match: TeamMembers) => TeamMembers) | undefined {
  const own = teams.flatMap(({ kind }, at) => ((team ?? kind) === kind ? [at] : []))
  if (own.length === teams.length && (scope === 'match' || teams.length === 1)) return undefined
  const inOwn = (match: TeamMembers) => own.map((at) => match[at] ?? [])
  return scope === 'team' ? inOwn : (match) => [inOwn(match).flat()]
}

/** Compiles a rule about any two tickets of a match, or of some of its teams. */
export function compileAmong(among: Among, rule: Checked<RuleBase>, context: RuleContext, allows: Allows): RuleChecks {
  const groups = groupsAmong(among, context)
  if (groups === undefined) return compilePairwise(rule, context, allows)
  return compileTeams(rule, context, (teams) => groups(teams).every((members) => allPairs(members, allows)))
}

/**
 * Compiles a rule about which team a ticket is in.
 * @param holds decides about teams. If it is true for a whole match, it must be true for each part of the match too
 */
export function compileTeams(
  rule: Checked<RuleBase>,
  { levels }: RuleContext,
  holds: (teams: TeamMembers) => boolean,
): RuleChecks {
  const counts = timedCounts(rule, levels)
  return {
    part: (teams, _, match) => counts.ofPart(match) === 0 || holds(teams),
    whole: (teams, match) => counts.ofMatch(match) === 0 || holds(teams),
  }
}

/**
 * Compiles a rule about the difference of two tickets as a check of pairs. It is for rules that are nested or about
 * some teams only, because these cannot use the kernel's columns.
 * @param limit maximum difference of the two; Infinity where the rule does not count.
 * @param isWithin also called with a ticket and itself.
 * @param groups see `groupsAmong`.
 */
export function compileApart(
  limit: TimedLimits,
  isWithin: (one: Facts, other: Facts, most: number) => boolean,
  groups?: (match: TeamMembers) => TeamMembers,
): RuleChecks {
  const fits = (one: Facts, other: Facts, most: number) => most === Infinity || isWithin(one, other, most)
  if (groups !== undefined) {
    const fit = (teams: TeamMembers, most: number) =>
      groups(teams).every(
        (members) =>
          members.every((one) => one.isPresent === true || fits(one, one, most)) &&
          allPairs(members, (one, other) => fits(one, other, most)),
      )
    return {
      part: (teams, _, match) => fit(teams, limit.ofPart(match)),
      whole: (teams, match) => fit(teams, limit.ofMatch(match)),
    }
  }
  return {
    pair: (one, other, level) => fits(one, other, limit.ofPair(level)),
    whole: (teams, match) => {
      const most = limit.ofMatch(match)
      const members = teams.flat()
      return (
        members.every((one) => one.isPresent === true || fits(one, one, most)) &&
        allPairs(members, (one, other) => fits(one, other, most))
      )
    },
  }
}

export function allPairs(members: readonly Facts[], allows: Allows): boolean {
  const isToCheck = (one: Facts, other: Facts) => one.isPresent !== true || other.isPresent !== true
  return members.every((one, index) =>
    members.every((other, later) => later <= index || !isToCheck(one, other) || allows(one, other)),
  )
}
