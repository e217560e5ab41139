// pure: the compare rule
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import { compares } from './comparing.js'
import type { CompareRule, Comparison } from './definition.js'
import type { Facts, Teams } from './facts.js'
import { tableOf } from './levels.js'
import type { Rule } from './rule.js'
import { aggregateOf, ANYTHING, createExtremes, rangeOf, tallyOf, type Range } from './tally.js'
import type { NamedTeam } from './team-shapes.js'
import { isSteady, timingOf } from './timing.js'
import { A_NUMBER, valuesOf, type Wanted } from './values.js'

export function compileCompare(rule: Rule & CompareRule, context: RuleContext): CompiledRule {
  const { index } = context
  const { aggregate, attribute = '', missing } = rule
  const wanted: Wanted<number> = { attribute, type: A_NUMBER, missing, rule: rule.name }
  const compiled = (measure: Measure) =>
    rule.otherTeam === undefined ? withConstant(rule, context, measure) : withTeam(rule, context, measure)
  if (aggregate === 'count') return { rule, ...compiled({ valueOf: sizeOf, reachOf: sizesOf }) }
  const extremesOf = createExtremes(index)
  return {
    rule,
    factOf: (ticket, refuse) => tallyOf(valuesOf(ticket, wanted, refuse)),
    ...compiled({
      valueOf: (team) => aggregateOf(team, index, aggregate),
      reachOf: (team, room, others) =>
        rangeOf(team, index, aggregate, room, others === undefined ? ANYTHING : extremesOf(others)),
    }),
  }
}

/** The number of a team that is compared. */
interface Measure {
  /** The team's number; NaN if no player has the attribute: then the rule does not count. */
  valueOf(team: readonly Facts[]): number
  /** The range of numbers that the team can reach when up to `room` more players join. */
  reachOf(team: readonly Facts[], room: number, others: readonly Facts[] | undefined): Range
}

const sizesOf: Measure['reachOf'] = (team, room) => ({ low: sizeOf(team), high: sizeOf(team) + room })

const sizeOf = (team: readonly Facts[]) => team.reduce((sum, { ticket }) => sum + ticket.players.length, 0)

/** Indexes of the teams of that kind; of all teams, if no kind is given. */
const teamsOf = (teams: readonly NamedTeam[], kind: string | undefined): number[] =>
  teams.flatMap((team, at) => (kind === undefined || team.kind === kind ? [at] : []))

function withConstant(
  rule: Rule & CompareRule,
  { levels, teams }: RuleContext,
  { valueOf, reachOf }: Measure,
): Omit<CompiledRule, 'rule'> {
  const limit = tableOf(levels, rule.value ?? 0, Number.NaN, rule)
  const timing = timingOf(rule, levels, isSteady(levels, limit))
  // With scope `match`, all players of the match count as one team.
  const isWhole = rule.scope === 'match'
  const own = isWhole ? [0] : teamsOf(teams, rule.team)
  const inScope = (match: Teams): Teams => (isWhole ? [match.flat()] : match)
  const roomIn = (roomOf: readonly number[]) => (isWhole ? [roomOf.reduce((sum, room) => sum + room, 0)] : roomOf)
  const allows = (level: number, fits: (limit: number, team: number) => boolean) => {
    const at = limit[level] ?? Number.NaN
    return Number.isNaN(at) || own.every((team) => fits(at, team))
  }
  return {
    whole: (match, wait) => {
      const scoped = inScope(match)
      return allows(timing.ofMatch(wait), (at, team) => {
        const value = valueOf(scoped[team] ?? [])
        return Number.isNaN(value) || compares(value, rule.operator, at)
      })
    },
    part: (match, roomOf, wait, others) => {
      const [scoped, room] = [inScope(match), roomIn(roomOf)]
      return allows(timing.ofPart(wait), (at, team) => {
        const reach = reachOf(scoped[team] ?? [], room[team] ?? 0, others)
        return canCompare(reach, rule.operator, { low: at, high: at })
      })
    },
  }
}

function withTeam(
  rule: Rule & CompareRule,
  { levels, teams }: RuleContext,
  { valueOf, reachOf }: Measure,
): Omit<CompiledRule, 'rule'> {
  const counts = tableOf(levels, 1, 0, rule)
  const timing = timingOf(rule, levels, isSteady(levels, counts))
  const [own, others] = [teamsOf(teams, rule.team), teamsOf(teams, rule.otherTeam)]
  const eachTwo = (allows: (team: number, other: number) => boolean) =>
    own.every((team) => others.every((other) => other === team || allows(team, other)))
  return {
    whole: (match, wait) =>
      counts[timing.ofMatch(wait)] === 0 ||
      eachTwo((team, other) => {
        const [one, two] = [valueOf(match[team] ?? []), valueOf(match[other] ?? [])]
        return Number.isNaN(one) || Number.isNaN(two) || compares(one, rule.operator, two)
      }),
    part: (match, roomOf, wait, joining) =>
      counts[timing.ofPart(wait)] === 0 ||
      eachTwo((team, other) => {
        const range = (at: number) => reachOf(match[at] ?? [], roomOf[at] ?? 0, joining)
        return canCompare(range(team), rule.operator, range(other))
      }),
  }
}

/** Whether any number of one range can compare by `operator` with any number of the other. */
function canCompare(one: Range, operator: Comparison, other: Range): boolean {
  switch (operator) {
    case '=':
      return one.low <= other.high && other.low <= one.high
    case '!=':
      return one.low !== one.high || other.low !== other.high || one.low !== other.low
    case '<':
    case '<=':
      return compares(one.low, operator, other.high)
    case '>':
    case '>=':
      return compares(one.high, operator, other.low)
  }
}
