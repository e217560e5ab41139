// pure: rules that contain rules: any, all, not
import type { MatchLevels } from '@muster/kernel'
import {
  tableOf,
  timingOf,
  allPairs,
  type Facts,
  type Refuse,
  type RuleChecks,
  type RuleContext,
  type RuleTicket,
  type TeamMembers,
} from '../rule-parts/index.js'
import {
  type AllRule,
  type AnyRule,
  innerRulesOf,
  type NotRule,
  type Rule,
  type RuleDefinition,
  withDefaults,
} from './definition.js'

/**
 * A ticket's fact if the inner rule can never hold: an attribute is missing, or a party's players have different
 * values.
 */
const NEVER = Symbol('never')

/** Whether a rule holds for a match; undefined if it does not apply, e.g. because no player has what it compares. */
type RuleVerdict = boolean | undefined

/**
 * Compiles a rule that contains rules. Inner rules check the whole match and have facts of their own. The group's fact
 * of a ticket is a `Facts` whose `of` has an entry for each inner rule. The group refuses a match for which it does not
 * hold. It allows a match to which it does not apply.
 * @param compile compiles an inner rule.
 */
export function compileGroup(
  rule: Rule & (AnyRule | AllRule | NotRule),
  context: RuleContext,
  compile: (rule: Rule, context: RuleContext) => RuleChecks,
): RuleChecks {
  const { levels, index } = context
  /**
   * The inner rules. If they are about one team, they are compiled for each team, because each team may satisfy another
   * inner rule.
   */
  const variants = teamsToJudge(rule, context).map((team) =>
    innerRulesOf(rule).map((one, at) =>
      compile(asInner(one, rule, at), { ...context, index: at, isInner: true, team }),
    ),
  )
  const inner = variants[0] ?? []
  const counts = tableOf(levels, 1, 0, rule)
  const timing = timingOf(rule, levels, false)
  const factsOf = ({ of }: Facts) => of[index] as Facts
  const holds = (test: (one: RuleChecks, at: number) => boolean): boolean =>
    variants.every((rules) => (rule.kind === 'any' ? rules.some(test) : rules.every(test)))
  const isNever = ({ of }: Facts, at: number) => of[at] === NEVER
  const anyNever = (teams: TeamMembers, at: number) => teams.some((team) => team.some((facts) => isNever(facts, at)))

  const verdictOf = (teams: TeamMembers, match: MatchLevels): RuleVerdict => {
    const known = teams.map((team) => team.map(factsOf))
    const verdictOfInner = (one: RuleChecks, at: number): RuleVerdict => {
      if (anyNever(known, at)) return false
      if (!wholeOf(one, known, match)) return false
      return one.saysOf?.(known, match) === false ? undefined : true
    }
    const join = rule.kind === 'any' ? anyOf : allOf
    const verdict = allOf(variants.map((rules) => join(rules.map(verdictOfInner))))
    return rule.kind === 'not' ? (verdict === undefined ? undefined : !verdict) : verdict
  }
  const factOf = (ticket: RuleTicket, refuse: Refuse): Facts => {
    const facts = { ticket, of: inner.map((one) => factOrNever(one, ticket)) }
    const isPossible = rule.kind === 'not' || holds((_, at) => !isNever(facts, at))
    if (isPossible || counts[levels.last] === 0) return facts
    throw refuse('players', `can never satisfy rule ${JSON.stringify(rule.name)}`)
  }
  const compiled: RuleChecks = {
    factOf,
    whole: (teams, match) => counts[timing.ofMatch(match)] === 0 || verdictOf(teams, match) !== false,
    saysOf: (teams, match) => verdictOf(teams, match) !== undefined,
  }
  const areCounted = inner.every((one) => one.counts !== undefined)
  const counted: RuleChecks = {
    ...compiled,
    ...(areCounted && {
      isSteady: inner.every(({ isSteady }) => isSteady === true) && counts.every((one) => one === counts[0]),
      counts: (fewest, most, match) => {
        if (counts[timing.ofMatch(match)] === 0) return true
        // The bounds decide a rule of kind `not` only if they decide its inner rule, i.e. if all numbers of players are
        // known.
        if (rule.kind === 'not' && fewest.some((players, team) => players !== most[team])) return true
        const mayHold = holds((one) => one.counts?.(fewest, most, match) ?? true)
        return rule.kind === 'not' ? !mayHold : mayHold
      },
    }),
  }
  // A rule of kind `not` can only be checked on the whole match.
  if (rule.kind === 'not') return counted
  const hasPairs = inner.some(({ pair }) => pair !== undefined)
  return {
    ...counted,
    ...(hasPairs && {
      pair: (one, other, level) => {
        if (counts[timing.ofPair(level)] === 0) return true
        const [some, others] = [factsOf(one), factsOf(other)]
        return holds(
          ({ pair }, at) => !isNever(some, at) && !isNever(others, at) && (pair?.(some, others, level) ?? true),
        )
      },
    }),
    part: (teams, roomOf, match) => {
      if (counts[timing.ofPart(match)] === 0) return true
      const known = teams.map((team) => team.map(factsOf))
      return holds(({ part }, at) => !anyNever(known, at) && (part?.(known, roomOf, match) ?? true))
    },
  }
}

/** Holds if any verdict holds. Otherwise undefined if any verdict is undefined. */
const anyOf = (verdicts: readonly RuleVerdict[]): RuleVerdict =>
  verdicts.includes(true) ? true : verdicts.includes(undefined) ? undefined : false

/** Fails if any verdict fails. Otherwise undefined if any verdict is undefined. */
const allOf = (verdicts: readonly RuleVerdict[]): RuleVerdict =>
  verdicts.includes(false) ? false : verdicts.includes(undefined) ? undefined : true

/**
 * Returns the teams for which a rule is judged one by one: all teams of a kind. The rule must be of kind `any`, and
 * each inner rule must compare a number of such a team with a constant. Otherwise [undefined]: the match is judged as a
 * whole.
 */
function teamsToJudge(rule: Rule, { teams, team: only }: RuleContext): readonly (number | undefined)[] {
  if (only !== undefined || rule.kind !== 'any') return [only]
  const kinds = new Set(comparedTeams(rule))
  const [kind] = kinds
  if (kinds.size !== 1 || kind === undefined) return [undefined]
  return teams.flatMap((team, at) => (kind === EVERY_TEAM || team.kind === kind ? [at] : []))
}

const EVERY_TEAM = Symbol('every team')

/** Returns the team that each comparison within a rule is about; undefined for a rule about more than one team. */
function comparedTeams(rule: RuleDefinition): readonly (string | typeof EVERY_TEAM | undefined)[] {
  const rules = innerRulesOf(rule)
  if (rules.length > 0) return rules.flatMap(comparedTeams)
  if (rule.kind !== 'compare' || rule.scope === 'match' || rule.otherTeam !== undefined) return [undefined]
  return [rule.team ?? EVERY_TEAM]
}

/** Returns an inner rule with the settings that it inherits from the outer rule. */
const asInner = (one: RuleDefinition, { by, hard, optionalAfterMs, name }: Rule, at: number): Rule =>
  withDefaults({ ...one, by, hard, optionalAfterMs, name: `${name}.${at}` })

/** Checks an inner rule on the whole match. An inner rule without such a check is checked on all pairs. */
function wholeOf({ whole, pair }: RuleChecks, teams: TeamMembers, match: MatchLevels): boolean {
  if (whole !== undefined) return whole(teams, match)
  return pair === undefined || allPairs(teams.flat(), (one, other) => pair(one, other, match.youngest))
}

/** Thrown if an inner rule would refuse a ticket. That rule then does not hold, but another inner rule may hold. */
class NeverHolds extends Error {}

function factOrNever({ factOf }: RuleChecks, ticket: RuleTicket): unknown {
  try {
    return factOf?.(ticket, () => new NeverHolds())
  } catch (error) {
    if (error instanceof NeverHolds) return NEVER
    throw error
  }
}
