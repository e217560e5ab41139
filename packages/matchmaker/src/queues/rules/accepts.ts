import { z } from 'zod'
import {
  comparisonWords,
  missingWords,
  SIZE,
  amongWords,
  compileAmong,
  groupsAmong,
  type Among,
  type Checked,
  type Comparison,
  type Missing,
  PARTY_SIZE,
  type RuleBase,
  type Facts,
  type Refuse,
  type RuleChecks,
  type RuleContext,
  type RuleTicket,
  type Scalar,
  type Teams,
  among,
  base,
  missingSchema,
  operatorSchema,
  scalarSchema,
  textSchema,
  textsSchema,
  A_LIST,
  A_NUMBER,
  A_SCALAR,
  A_TEXT,
  holdsBetween,
  valuesOf,
  type ValueType,
} from '../rule-parts/index.js'

/**
 * Each ticket says which others it accepts: between any two tickets, every player's `attribute` must compare by
 * `operator` with what every player of the other ticket has under `own`. Players who have nothing under `own` accept
 * everyone. E.g. `attribute: 'skill', operator: '>=', own: 'minSkill'`, or `attribute: 'clan', operator: 'not in', own:
 * 'blockedClans'`.
 */
export interface AcceptsRule extends RuleBase, Among {
  readonly kind: 'accepts'
  /** Name of the attribute of the other players. */
  readonly attribute: string
  /** For `<`, `<=`, `>` and `>=` the attribute is a number; for `contains` and `excludes`, a list of texts. */
  readonly operator: Comparison | 'in' | 'not in' | 'contains' | 'excludes'
  /** Name of the player's own attribute to compare with; for `in` and `not in`, a list of texts. */
  readonly own: string
  /** Players who do not have `attribute`. Default `refuse`. */
  readonly missing?: Missing<string | number | boolean | readonly string[]> | undefined
}

export const acceptsSchema = z.strictObject({
  kind: z.literal('accepts'),
  ...base,
  ...among,
  attribute: textSchema,
  operator: operatorSchema,
  own: textSchema,
  missing: missingSchema(z.union([scalarSchema, textsSchema])),
})

type Value = Scalar | readonly string[]

/** Values of a ticket's players, and what they state about others. Players who state nothing are in neither list. */
interface Stated {
  readonly are: readonly Value[]
  readonly want: readonly Value[]
}

/** The types that an operator needs on both sides. */
function typesOf(operator: AcceptsRule['operator']): readonly [attribute: ValueType<Value>, own: ValueType<Value>] {
  switch (operator) {
    case '=':
    case '!=':
      return [A_SCALAR, A_SCALAR]
    case 'in':
    case 'not in':
      return [A_TEXT, A_LIST]
    case 'contains':
    case 'excludes':
      return [A_LIST, A_TEXT]
    default:
      return [A_NUMBER, A_NUMBER]
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
  const factOf = (ticket: RuleTicket, refuse: Refuse): Stated => ({
    are: valuesOf(ticket, is, refuse),
    want: valuesOf(ticket, wants, refuse),
  })
  const takes = ({ want }: Stated, { are }: Stated) =>
    want.every((wanted) => are.every((value) => holdsBetween(value, operator, wanted)))
  const allows = (one: Facts, other: Facts) => {
    const [some, others] = [one.of[index] as Stated, other.of[index] as Stated]
    return takes(some, others) && takes(others, some)
  }
  /** Somebody asks for what somebody of another ticket has or has not. */
  const saysOf = (teams: Teams) => {
    const stated = ({ of }: Facts) => of[index] as Stated
    return (groupsAmong(rule, context)?.(teams) ?? [teams.flat()]).some((members) =>
      members.some(
        (one) => stated(one).want.length > 0 && members.some((other) => other !== one && stated(other).are.length > 0),
      ),
    )
  }
  return { ...compileAmong(rule, rule, context, allows), saysOf, factOf }
}

export function acceptsWords({ attribute, operator, own, missing, scope, team }: AcceptsRule): string {
  const others = 'of each player of another party'
  const whose = amongWords({ scope, team })
  const unless = `${whose}; players without ${own} accept everyone${missingWords(attribute, missing)}`
  if (operator === 'contains') return `every player has the ${own} ${others} in ${attribute}${unless}`
  if (operator === 'excludes') return `no player has the ${own} ${others} in ${attribute}${unless}`
  const what = attribute === PARTY_SIZE ? SIZE : `every player's ${attribute}`
  if (operator === 'in') return `${what} is one of the ${own} ${others}${unless}`
  if (operator === 'not in') return `${what} is none of the ${own} ${others}${unless}`
  const words: Partial<Record<Comparison, string>> = { '=': '', '!=': 'not ' }
  return `${what} is ${words[operator] ?? `${comparisonWords(operator)} `}the ${own} ${others}${unless}`
}
