import { z } from 'zod'
import type {
  Checked,
  Missing,
  RuleBase,
  Scope,
  Facts,
  Refuse,
  RuleChecks,
  RuleContext,
  RuleTicket,
  Scalar,
  TeamMembers,
  WantedValue,
} from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'

/**
 * All players of the match, or of each team, have the same value. A party whose players have different values is
 * refused when created.
 */
export interface EqualRule extends RuleBase {
  readonly kind: 'equal'
  /** Name of a string, number or boolean attribute. */
  readonly attribute: string
  /** The players whose values must be equal. With `team`, teams may differ from one another. Default `match`. */
  readonly scope?: Scope | undefined
  /**
   * What happens with players without the attribute. `refuse` (default): their tickets are refused when created. `any`:
   * the rule ignores these players. `{ value }`: they count as having this value.
   */
  readonly missing?: Missing<string | number | boolean> | undefined
}

/**
 * All players of the match, or of each team, have different values; or teams have no value in common. A party with two
 * equal values is refused when created, unless one team may have equal values.
 */
export interface DifferentRule extends RuleBase {
  readonly kind: 'different'
  /** Name of a string, number or boolean attribute. */
  readonly attribute: string
  /**
   * The players whose values must differ. `match` (default): all players. `team`: the players of each team. `teams`:
   * players of different teams; within a team, values may be equal.
   */
  readonly scope?: Scope | 'teams' | undefined
  /**
   * What happens with players without the attribute. `refuse` (default): their tickets are refused when created. `any`:
   * the rule ignores these players. `{ value }`: they count as having this value.
   */
  readonly missing?: Missing<string | number | boolean> | undefined
}

const sameness = {
  ...parts.base,
  attribute: parts.textSchema,
  scope: parts.scopeSchema,
  missing: parts.missingSchema(parts.scalarSchema),
}
export const equalSchema = z.strictObject({ kind: z.literal('equal'), ...sameness })
export const differentSchema = z.strictObject({
  kind: z.literal('different'),
  ...sameness,
  scope: z.enum([...parts.scopeSchema.unwrap().options, 'teams']).optional(),
})

/** True if the rule applies: at least two players with a value are compared. */
const saysOf =
  (scope: Scope, wanted: WantedValue<Scalar>) =>
  (teams: TeamMembers): boolean =>
    (scope === 'team' ? teams : [teams.flat()]).some((members) => parts.countOf(members, wanted) > 1)

export function compileEqual(rule: Checked<EqualRule>, context: RuleContext): RuleChecks {
  const { attribute, scope = 'match', missing, name } = rule
  const wanted: WantedValue<Scalar> = { attribute, type: parts.A_SCALAR, missing, rule: name }
  const valueOf = (ticket: RuleTicket, refuse: Refuse): Scalar | undefined => {
    const values = parts.valuesOf(ticket, wanted, refuse)
    if (values.some((value) => value !== values[0])) {
      throw refuse('players', `rule ${JSON.stringify(name)} requires the same \`${attribute}\` for all of them`)
    }
    return values[0]
  }
  // A rule that never relaxes and applies to all tickets becomes a key. The key separates tickets before any other
  // check.
  const isForAll = scope === 'match' || context.teams.length === 1
  const isAlways = missing !== 'any' && parts.timedCounts(rule, context.levels).table.every((count) => count === 1)
  if (isForAll && isAlways && context.isInner !== true) {
    return { keyOf: (ticket, refuse) => valueOf(ticket, refuse) ?? '' }
  }
  const { index } = context
  const allows = (one: Facts, other: Facts) => {
    const [a, b] = [one.of[index], other.of[index]]
    return a === b || a === undefined || b === undefined
  }
  return { ...parts.compileAmong({ scope }, rule, context, allows), saysOf: saysOf(scope, wanted), factOf: valueOf }
}

export function compileDifferent(rule: Checked<DifferentRule>, context: RuleContext): RuleChecks {
  const { attribute, scope = 'match', missing, name } = rule
  const { index } = context
  const wanted: WantedValue<Scalar> = { attribute, type: parts.A_SCALAR, missing, rule: name }
  const factOf = (ticket: RuleTicket, refuse: Refuse): readonly Scalar[] => {
    const values = parts.valuesOf(ticket, wanted, refuse)
    if (scope !== 'teams' && new Set(values).size < values.length) {
      throw refuse('players', `rule ${JSON.stringify(name)} requires a different \`${attribute}\` for each player`)
    }
    return values
  }
  const allows = (one: Facts, other: Facts) => {
    const [some, others] = [one.of[index] as readonly Scalar[], other.of[index] as readonly Scalar[]]
    return !some.some((value) => others.includes(value))
  }
  if (scope !== 'teams')
    return { ...parts.compileAmong({ scope }, rule, context, allows), saysOf: saysOf(scope, wanted), factOf }
  const areApart = (team: readonly Facts[], other: readonly Facts[]) =>
    team.every((one) => other.every((two) => allows(one, two)))
  return {
    ...parts.compileTeams(rule, context, (teams) =>
      teams.every((team, at) => teams.slice(at + 1).every((other) => areApart(team, other))),
    ),
    saysOf: (teams) => teams.filter((team) => parts.countOf(team, wanted) > 0).length > 1,
    factOf,
  }
}

export function equalWords({ attribute, scope = 'match', missing }: EqualRule): string {
  const who = scope === 'match' ? 'all players' : 'all players of a team'
  return `${who} have the same ${parts.attributeWords(attribute)}${parts.missingWords(attribute, missing)}`
}

export function differentWords({ attribute, scope = 'match', missing }: DifferentRule): string {
  const who = { match: 'no two players', team: 'no two players of a team', teams: 'no two players of different teams' }[
    scope
  ]
  return `${who} have the same ${parts.attributeWords(attribute)}${parts.missingWords(attribute, missing)}`
}
