// pure: the rule by which tickets say whom they take
import { holdsBetween } from './comparing.js'
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { AcceptsRule } from './definition.js'
import type { Facts, Refuse, RuleTicket } from './facts.js'
import { tableOf } from './levels.js'
import { compilePairwise } from './pairwise.js'
import type { Missing } from './rule-base.js'
import type { Rule } from './rule.js'
import { A_LIST, A_NUMBER, A_SCALAR, A_TEXT, valuesOf, type Scalar, type ValueType } from './values.js'

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

export function compileAccepts(rule: Rule & AcceptsRule, context: RuleContext): CompiledRule {
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
  return { ...compilePairwise(rule, context, tableOf(context.levels, 1, 0, rule), allows), factOf }
}
