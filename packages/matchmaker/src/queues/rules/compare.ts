import { z } from 'zod'
import type {
  RelaxingLimit,
  Checked,
  Comparison,
  Missing,
  RuleBase,
  Scope,
  Facts,
  RuleChecks,
  RuleContext,
  TeamMembers,
  Range,
  WantedValue,
} from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'

/**
 * Compares an aggregate of the players of a team, or of the match, with a constant or with another team's aggregate.
 */
export interface CompareRule extends RuleBase {
  readonly kind: 'compare'
  /** The players of the aggregate. With `match`, neither `team` nor `otherTeam` is given. Default `team`. */
  readonly scope?: Scope | undefined
  /** Name of a number attribute, or `PARTY_SIZE`. Not used for `count`. */
  readonly attribute?: string | undefined
  /** How the players' numbers are aggregated; `count` is the number of players. */
  readonly aggregate: 'avg' | 'min' | 'max' | 'sum' | 'count'
  /** Name of a team. The rule applies to each team of that name. Default: every team. */
  readonly team?: string | undefined
  /** How the number is compared. */
  readonly operator: Comparison
  /** Exactly one of `value` and `otherTeam` is given. `value` relaxes in the direction that allows more. */
  readonly value?: RelaxingLimit | undefined
  /** Name of the team to compare with. */
  readonly otherTeam?: string | undefined
  /**
   * What happens with players without the attribute. `refuse` (default): their tickets are refused when created. `any`:
   * the rule ignores these players. `{ value }`: they count as having this value.
   */
  readonly missing?: Missing<number> | undefined
}

export const compareSchema = z
  .strictObject({
    kind: z.literal('compare'),
    ...parts.base,
    scope: parts.scopeSchema,
    attribute: parts.textSchema.optional(),
    aggregate: z.enum(['avg', 'min', 'max', 'sum', 'count']),
    team: parts.textSchema.optional(),
    operator: parts.comparisonSchema,
    value: z
      .custom<RelaxingLimit>((value) => value !== undefined)
      .meta({
        get anyOf() {
          return parts.limitForms(parts.finite)
        },
      })
      .optional(),
    otherTeam: parts.textSchema.optional(),
    missing: parts.missingSchema(parts.finite),
  })
  .superRefine((rule, context) => {
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    if ((rule.attribute === undefined) !== (rule.aggregate === 'count')) {
      refuse(['attribute'], rule.attribute === undefined ? 'must be given' : 'is not used for count')
    }
    if ((rule.value === undefined) === (rule.otherTeam === undefined)) refuse([], 'must have either value or otherTeam')
    for (const key of ['team', 'otherTeam'] as const) {
      if (rule.scope === 'match' && rule[key] !== undefined) refuse([key], "is not used where scope is 'match'")
    }
    if (rule.value === undefined) return
    const problem = parts.problemOfValue(rule.operator, rule.value)
    if (problem !== undefined) refuse(['value', ...problem.path], problem.message)
  })

export function compileCompare(rule: Checked<CompareRule>, context: RuleContext): RuleChecks {
  const { index } = context
  const { aggregate, attribute = '', missing } = rule
  const wanted: WantedValue<number> = { attribute, type: parts.A_NUMBER, missing, rule: rule.name }
  /** True if any player has a number to compare. If two teams are compared, both must have one. */
  const saysOf =
    (isKnown: (team: readonly Facts[]) => boolean): RuleChecks['saysOf'] =>
    (match) => {
      if (rule.scope === 'match') return isKnown(match.flat())
      const known = (kind: string | undefined) => teamsOf(context, kind).filter((team) => isKnown(match[team] ?? []))
      const own = known(rule.team)
      if (rule.otherTeam === undefined) return own.length > 0
      return own.some((team) => known(rule.otherTeam).some((other) => other !== team))
    }
  const compiled = (measure: TeamMeasure) =>
    rule.otherTeam === undefined ? withConstant(rule, context, measure) : withTeam(rule, context, measure)
  if (aggregate === 'count')
    return {
      ...compiled({ valueOf: sizeOf, reachOf: sizesOf }),
      saysOf: saysOf(() => true),
      ...countsOf(rule, context),
    }
  const extremesOf = parts.createExtremes(index)
  return {
    factOf: (ticket, refuse) => parts.tallyOf(parts.valuesOf(ticket, wanted, refuse)),
    saysOf: saysOf((team) => !Number.isNaN(parts.aggregateOf(team, index, aggregate))),
    ...compiled({
      valueOf: (team) => parts.aggregateOf(team, index, aggregate),
      reachOf: (team, room, others) =>
        parts.rangeOf(team, index, aggregate, room, others === undefined ? parts.ANYTHING : extremesOf(others)),
    }),
  }
}

/** How the compared number of a team is computed. */
interface TeamMeasure {
  /** Returns the team's number; NaN if no player has the attribute. Then the rule does not apply. */
  valueOf(team: readonly Facts[]): number
  /** Returns the range of numbers that the team can reach if up to `room` more players join. */
  reachOf(team: readonly Facts[], room: number, others: readonly Facts[] | undefined): Range
}

const sizesOf: TeamMeasure['reachOf'] = (team, room) => ({ low: sizeOf(team), high: sizeOf(team) + room })

const sizeOf = (team: readonly Facts[]) => team.reduce((sum, { ticket }) => sum + ticket.players.length, 0)

/** Returns the indexes of the teams of that kind, or of all teams. */
const teamsOf = ({ teams, team: only }: Pick<RuleContext, 'teams' | 'team'>, kind: string | undefined): number[] =>
  teams.flatMap((team, at) => ((kind === undefined || team.kind === kind) && (only ?? at) === at ? [at] : []))

/** Returns the checks of a rule that needs to know nothing but numbers of players. */
function countsOf(rule: Checked<CompareRule>, context: RuleContext): Pick<RuleChecks, 'counts' | 'isSteady'> {
  const { levels } = context
  const limit = parts.timedLimits(rule, levels, rule.value ?? 1, Number.NaN)
  const [own, others] = [teamsOf(context, rule.team), teamsOf(context, rule.otherTeam)]
  // A rule without two teams to compare does not apply.
  if (rule.otherTeam !== undefined && !own.some((team) => others.some((other) => other !== team))) return {}
  const isSteady = limit.table.every((value) => Object.is(value, limit.table[0]))
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
  const counts: RuleChecks['counts'] = (fewest, most, match) => {
    const at = limit.ofMatch(match)
    if (Number.isNaN(at)) return true
    const range = (team: number): Range => ({ low: fewest[team] ?? 0, high: most[team] ?? 0 })
    const value: Range = { low: at, high: at }
    if (rule.scope === 'match') return canCompare({ low: sum(fewest), high: sum(most) }, rule.operator, value)
    if (rule.otherTeam === undefined) return own.every((team) => canCompare(range(team), rule.operator, value))
    return own.every((team) =>
      others.every((other) => other === team || canCompare(range(team), rule.operator, range(other))),
    )
  }
  return { counts, isSteady }
}

function withConstant(rule: Checked<CompareRule>, context: RuleContext, { valueOf, reachOf }: TeamMeasure): RuleChecks {
  const limit = parts.timedLimits(rule, context.levels, rule.value ?? 0, Number.NaN)
  // With scope `match`, all players of the match count as one team.
  const isWhole = rule.scope === 'match'
  const own = isWhole ? [0] : teamsOf(context, rule.team)
  const inScope = (match: TeamMembers): TeamMembers => (isWhole ? [match.flat()] : match)
  const roomIn = (roomOf: readonly number[]) => (isWhole ? [roomOf.reduce((sum, room) => sum + room, 0)] : roomOf)
  const allows = (at: number, fits: (limit: number, team: number) => boolean) =>
    Number.isNaN(at) || own.every((team) => fits(at, team))
  return {
    whole: (match, wait) => {
      const scoped = inScope(match)
      return allows(limit.ofMatch(wait), (at, team) => {
        const value = valueOf(scoped[team] ?? [])
        return Number.isNaN(value) || parts.compares(value, rule.operator, at)
      })
    },
    part: (match, roomOf, wait, others) => {
      const [scoped, room] = [inScope(match), roomIn(roomOf)]
      return allows(limit.ofPart(wait), (at, team) => {
        const reach = reachOf(scoped[team] ?? [], room[team] ?? 0, others)
        return canCompare(reach, rule.operator, { low: at, high: at })
      })
    },
  }
}

function withTeam(rule: Checked<CompareRule>, context: RuleContext, { valueOf, reachOf }: TeamMeasure): RuleChecks {
  const counts = parts.timedCounts(rule, context.levels)
  const [own, others] = [teamsOf(context, rule.team), teamsOf(context, rule.otherTeam)]
  const eachTwo = (allows: (team: number, other: number) => boolean) =>
    own.every((team) => others.every((other) => other === team || allows(team, other)))
  return {
    whole: (match, wait) =>
      counts.ofMatch(wait) === 0 ||
      eachTwo((team, other) => {
        const [one, two] = [valueOf(match[team] ?? []), valueOf(match[other] ?? [])]
        return Number.isNaN(one) || Number.isNaN(two) || parts.compares(one, rule.operator, two)
      }),
    part: (match, roomOf, wait, joining) =>
      counts.ofPart(wait) === 0 ||
      eachTwo((team, other) => {
        const range = (at: number) => reachOf(match[at] ?? [], roomOf[at] ?? 0, joining)
        return canCompare(range(team), rule.operator, range(other))
      }),
  }
}

/** True if a number of one range can compare by `operator` with a number of the other. */
function canCompare(one: Range, operator: Comparison, other: Range): boolean {
  switch (operator) {
    case '=':
      return one.low <= other.high && other.low <= one.high
    case '!=':
      return one.low !== one.high || other.low !== other.high || one.low !== other.low
    case '<':
    case '<=':
      return parts.compares(one.low, operator, other.high)
    case '>':
    case '>=':
      return parts.compares(one.high, operator, other.low)
  }
}

export function compareWords(rule: CompareRule): string {
  const { scope, attribute, aggregate, team, operator, value, otherTeam, missing } = rule
  const what =
    aggregate === 'count' ? 'number of players' : `${parts.MADE[aggregate]} ${parts.attributeWords(attribute)}`
  const whose = scope === 'match' ? 'the match' : parts.teamOf(team)
  const than = otherTeam === undefined ? parts.comparedWith(operator, value ?? 0) : beside(operator, otherTeam)
  return `the ${what} of ${whose} is ${than}${parts.missingWords(attribute, missing)}`
}

function beside(operator: CompareRule['operator'], team: string): string {
  if (operator === '=') return `that of team ${team}`
  return `${operator === '!=' ? 'not' : parts.comparisonWords(operator)} that of team ${team}`
}
