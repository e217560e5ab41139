// pure: rules made of rules: any, all, not
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
  type Teams,
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

/** A ticket's fact where the inner rule can never hold: an attribute is missing, or a party's players differ. */
const NEVER = Symbol('never')

/**
 * Compiles a rule made of rules. Inner rules check the whole match, with facts of their own: the group's fact of a
 * ticket is a `Facts` whose `of` has an entry for each inner rule.
 * @param compile compiles an inner rule.
 */
export function compileGroup(
  rule: Rule & (AnyRule | AllRule | NotRule),
  context: RuleContext,
  compile: (rule: Rule, context: RuleContext) => RuleChecks,
): RuleChecks {
  const { levels, index } = context
  const inner = innerRulesOf(rule).map((one, at) =>
    compile(asInner(one, rule, at), { ...context, index: at, isInner: true }),
  )
  const counts = tableOf(levels, 1, 0, rule)
  const timing = timingOf(rule, levels, false)
  const factsOf = ({ of }: Facts) => of[index] as Facts
  const holds = (test: (one: RuleChecks, at: number) => boolean): boolean =>
    rule.kind === 'any' ? inner.some(test) : inner.every(test)
  const isNever = ({ of }: Facts, at: number) => of[at] === NEVER
  const anyNever = (teams: Teams, at: number) => teams.some((team) => team.some((facts) => isNever(facts, at)))

  const whole = (teams: Teams, match: MatchLevels): boolean => {
    const known = teams.map((team) => team.map(factsOf))
    const isMet = holds((one, at) => !anyNever(known, at) && wholeOf(one, known, match))
    return rule.kind === 'not' ? !isMet : isMet
  }
  const factOf = (ticket: RuleTicket, refuse: Refuse): Facts => {
    const facts = { ticket, of: inner.map((one) => factOrNever(one, ticket)) }
    const isPossible = rule.kind === 'not' || holds((_, at) => !isNever(facts, at))
    if (isPossible || counts[levels.last] === 0) return facts
    throw refuse('players', `never meet rule ${JSON.stringify(rule.name)}`)
  }
  const compiled: RuleChecks = {
    factOf,
    whole: (teams, match) => counts[timing.ofMatch(match)] === 0 || whole(teams, match),
  }
  // A rule of kind `not` can only be checked on the whole match.
  if (rule.kind === 'not') return compiled
  return {
    ...compiled,
    pair: (one, other, level) => {
      if (counts[timing.ofPair(level)] === 0) return true
      const [some, others] = [factsOf(one), factsOf(other)]
      return holds(
        ({ pair }, at) => !isNever(some, at) && !isNever(others, at) && (pair?.(some, others, level) ?? true),
      )
    },
    part: (teams, roomOf, match) => {
      if (counts[timing.ofPart(match)] === 0) return true
      const known = teams.map((team) => team.map(factsOf))
      return holds(({ part }, at) => !anyNever(known, at) && (part?.(known, roomOf, match) ?? true))
    },
  }
}

/** Inner rules take these settings from the rule around them. */
const asInner = (one: RuleDefinition, { by, hard, optionalAfterMs, name }: Rule, at: number): Rule =>
  withDefaults({ ...one, by, hard, optionalAfterMs, name: `${name}.${at}` })

/** An inner rule without a check of the whole match is checked on all pairs. */
function wholeOf({ whole, pair }: RuleChecks, teams: Teams, match: MatchLevels): boolean {
  if (whole !== undefined) return whole(teams, match)
  return pair === undefined || allPairs(teams.flat(), (one, other) => pair(one, other, match.youngest))
}

/** Thrown where an inner rule would refuse a ticket: it then does not hold, but another one may. */
class NeverHolds extends Error {}

function factOrNever({ factOf }: RuleChecks, ticket: RuleTicket): unknown {
  try {
    return factOf?.(ticket, () => new NeverHolds())
  } catch (error) {
    if (error instanceof NeverHolds) return NEVER
    throw error
  }
}
