// pure: the rule that all are different
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { DifferentRule } from './definition.js'
import type { Facts, Refuse, RuleTicket } from './facts.js'
import { tableOf } from './levels.js'
import { compileInScope } from './pairwise.js'
import type { Rule } from './rule.js'
import { A_SCALAR, valuesOf, type Scalar, type Wanted } from './values.js'

export function compileDifferent(rule: Rule & DifferentRule, context: RuleContext): CompiledRule {
  const { attribute, scope = 'match', missing, name } = rule
  const { index } = context
  const wanted: Wanted<Scalar> = { attribute, type: A_SCALAR, missing, rule: name }
  const factOf = (ticket: RuleTicket, refuse: Refuse): readonly Scalar[] => {
    const values = valuesOf(ticket, wanted, refuse)
    if (new Set(values).size < values.length) {
      throw refuse('players', `are not all different in ${attribute}, as rule ${JSON.stringify(name)} wants them`)
    }
    return values
  }
  const allows = (one: Facts, other: Facts) => {
    const [some, others] = [one.of[index] as readonly Scalar[], other.of[index] as readonly Scalar[]]
    return !some.some((value) => others.includes(value))
  }
  const counts = tableOf(context.levels, 1, 0, rule)
  return { ...compileInScope(scope, rule, context, counts, allows), factOf }
}
