// pure: the compare rule
import type { MatchLevels } from '../../kernel/model.js'
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { CompareRule } from './definition.js'
import type { Facts, Teams } from './facts.js'
import { tableOf } from './levels.js'
import type { Rule } from './rule.js'
import { aggregateOf, tallyOf } from './tally.js'
import type { NamedTeam } from './team-shapes.js'
import { isSteady, timingOf } from './timing.js'
import { A_NUMBER, valuesOf, type Wanted } from './values.js'

export function compileCompare(rule: Rule & CompareRule, context: RuleContext): CompiledRule {
  const { index } = context
  const { aggregate, attribute = '', missing } = rule
  const wanted: Wanted<number> = { attribute, type: A_NUMBER, missing, rule: rule.name }
  const compiled = (valueOf: ValueOf) =>
    rule.otherTeam === undefined ? withConstant(rule, context, valueOf) : withTeam(rule, context, valueOf)
  if (aggregate === 'count') return { rule, ...compiled(sizeOf) }
  return {
    rule,
    factOf: (ticket, refuse) => tallyOf(valuesOf(ticket, wanted, refuse)),
    ...compiled((team) => aggregateOf(team, index, aggregate)),
  }
}

type ValueOf = (team: readonly Facts[]) => number

const sizeOf: ValueOf = (team) => team.reduce((sum, { ticket }) => sum + ticket.players.length, 0)

/** Which of a match's teams are of that kind; all, if no kind is given. */
const teamsOf = (teams: readonly NamedTeam[], kind: string | undefined): number[] =>
  teams.flatMap((team, at) => (kind === undefined || team.kind === kind ? [at] : []))

function withConstant(rule: Rule & CompareRule, { levels, teams }: RuleContext, valueOf: ValueOf): Omit<CompiledRule, 'rule'> {
  const { operator, aggregate } = rule
  const limit = tableOf(levels, rule.value ?? 0, Number.NaN, rule)
  const timing = timingOf(rule, levels, isSteady(levels, limit))
  const own = teamsOf(teams, rule.team)
  const allows = (match: Teams, level: number, fits: (value: number, limit: number, team: number) => boolean) => {
    const at = limit[level] ?? Number.NaN
    if (Number.isNaN(at)) return true
    return own.every((team) => {
      const value = valueOf(match[team] ?? [])
      return Number.isNaN(value) || fits(value, at, team)
    })
  }
  const whole = (match: Teams, wait: MatchLevels) =>
    allows(match, timing.ofMatch(wait), (value, at) => compares(value, operator, at))
  const [below, above] = [operator.startsWith('<'), operator.startsWith('>')]
  // What can only grow as others join must not be too large already; what can only fall, not too small.
  if (below ? aggregate === 'max' || aggregate === 'count' : above && aggregate === 'min') {
    const part = (match: Teams, _: readonly number[], wait: MatchLevels) =>
      allows(match, timing.ofPart(wait), (value, at) => compares(value, operator, at))
    return { whole, part }
  }
  if (!above || aggregate !== 'count') return { whole }
  const part = (match: Teams, roomOf: readonly number[], wait: MatchLevels) =>
    allows(match, timing.ofPart(wait), (value, at, team) => compares(value + (roomOf[team] ?? 0), operator, at))
  return { whole, part }
}

function withTeam(rule: Rule & CompareRule, { levels, teams }: RuleContext, valueOf: ValueOf): Omit<CompiledRule, 'rule'> {
  const counts = tableOf(levels, 1, 0, rule)
  const timing = timingOf(rule, levels, isSteady(levels, counts))
  const [own, others] = [teamsOf(teams, rule.team), teamsOf(teams, rule.otherTeam)]
  return {
    whole: (match, wait) => {
      if (counts[timing.ofMatch(wait)] === 0) return true
      return own.every((team) =>
        others.every((other) => {
          if (other === team) return true
          const [one, two] = [valueOf(match[team] ?? []), valueOf(match[other] ?? [])]
          return Number.isNaN(one) || Number.isNaN(two) || compares(one, rule.operator, two)
        }),
      )
    },
  }
}

export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>='

export function compares(one: number, operator: Operator, other: number): boolean {
  switch (operator) {
    case '=':
      return one === other
    case '!=':
      return one !== other
    case '<':
      return one < other
    case '<=':
      return one <= other
    case '>':
      return one > other
    case '>=':
      return one >= other
  }
}
