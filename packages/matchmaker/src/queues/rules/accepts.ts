import { z } from 'zod'
import type {
  Among,
  Checked,
  Comparison,
  Missing,
  RuleBase,
  Facts,
  Refuse,
  RuleChecks,
  RuleContext,
  RuleTicket,
  Scalar,
  TeamMembers,
  ValueType,
} from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'

/**
 * Each ticket states which others it accepts. Between two tickets, each player's `attribute` is compared by `operator`
 * with the `own` attribute of each player of the other ticket. Players without an `own` value accept everyone. E.g.
 * `attribute: 'skill', operator: '>=', own: 'minSkill'`, or
 * `attribute: 'clan', operator: 'not in', own: 'blockedClans'`.
 */
export interface AcceptsRule extends RuleBase, Among {
  readonly kind: 'accepts'
  /** Name of the attribute of the other players. */
  readonly attribute: string
  /**
   * How `attribute` is compared with `own`. For `<`, `<=`, `>` and `>=`, the attribute is a number; for `contains` and
   * `excludes`, a list of strings.
   */
  readonly operator: Comparison | 'in' | 'not in' | 'contains' | 'excludes'
  /** Name of the player's own attribute to compare with; for `in` and `not in`, a list of strings. */
  readonly own: string
  /**
   * What happens with players without `attribute`. `refuse` (default): their tickets are refused when created. `any`:
   * the rule ignores these players. `{ value }`: they count as having this value.
   */
  readonly missing?: Missing<string | number | boolean | readonly string[]> | undefined
}

export const acceptsSchema = z.strictObject({
  kind: z.literal('accepts'),
  ...parts.base,
  ...parts.among,
  attribute: parts.textSchema,
  operator: parts.operatorSchema,
  own: parts.textSchema,
  missing: parts.missingSchema(z.union([parts.scalarSchema, parts.textsSchema])),
})

type Value = Scalar | readonly string[]

/** The values of a ticket's players, and the values that they require of others. A player without a value adds none. */
interface StatedValues {
  readonly are: readonly Value[]
  readonly want: readonly Value[]
}

/** Returns the types that an operator requires on both sides. */
function typesOf(operator: AcceptsRule['operator']): readonly [attribute: ValueType<Value>, own: ValueType<Value>] {
  switch (operator) {
    case '=':
    case '!=':
      return [parts.A_SCALAR, parts.A_SCALAR]
    case 'in':
    case 'not in':
      return [parts.A_TEXT, parts.A_LIST]
    case 'contains':
    case 'excludes':
      return [parts.A_LIST, parts.A_TEXT]
    default:
      return [parts.A_NUMBER, parts.A_NUMBER]
  }
}

export function compileAccepts(rule: Checked<AcceptsRule>, context: RuleContext): RuleChecks {
  const { attribute, operator, own, missing, name } = rule
  const { index } = context
  const [ofAttribute, ofOwn] = typesOf(operator)
  const [is, wants] = [
    { attribute, type: ofAttribute, missing: missing as Missing<Value> | undefined, rule: name },
    { attribute: own, type: ofOwn, missing: 'any' as const, rule: name },
  ]
  const factOf = (ticket: RuleTicket, refuse: Refuse): StatedValues => ({
    are: parts.valuesOf(ticket, is, refuse),
    want: parts.valuesOf(ticket, wants, refuse),
  })
  const takes = ({ want }: StatedValues, { are }: StatedValues) =>
    want.every((wanted) => are.every((value) => parts.holdsBetween(value, operator, wanted)))
  const allows = (one: Facts, other: Facts) => {
    const [some, others] = [one.of[index] as StatedValues, other.of[index] as StatedValues]
    return takes(some, others) && takes(others, some)
  }
  /** True if any ticket requires a value and another ticket has one. Only then does the rule compare anything. */
  const saysOf = (teams: TeamMembers) => {
    const stated = ({ of }: Facts) => of[index] as StatedValues
    return (parts.groupsAmong(rule, context)?.(teams) ?? [teams.flat()]).some((members) =>
      members.some(
        (one) => stated(one).want.length > 0 && members.some((other) => other !== one && stated(other).are.length > 0),
      ),
    )
  }
  return { ...parts.compileAmong(rule, rule, context, allows), saysOf, factOf }
}

export function acceptsWords({ attribute, operator, own, missing, scope, team }: AcceptsRule): string {
  const others = 'of each player of another party'
  const whose = parts.amongWords({ scope, team })
  const unless = `${whose}; players without ${own} accept everyone${parts.missingWords(attribute, missing)}`
  if (operator === 'contains') return `every player has the ${own} ${others} in ${attribute}${unless}`
  if (operator === 'excludes') return `no player has the ${own} ${others} in ${attribute}${unless}`
  const what = attribute === parts.PARTY_SIZE ? parts.SIZE : `every player's ${attribute}`
  if (operator === 'in') return `${what} is one of the ${own} ${others}${unless}`
  if (operator === 'not in') return `${what} is none of the ${own} ${others}${unless}`
  const words: Partial<Record<Comparison, string>> = { '=': '', '!=': 'not ' }
  return `${what} is ${words[operator] ?? `${parts.comparisonWords(operator)} `}the ${own} ${others}${unless}`
}
