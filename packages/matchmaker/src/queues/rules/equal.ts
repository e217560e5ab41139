// pure: the equality rule
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { EqualRule } from './definition.js'
import type { Facts, Refuse, RuleTicket } from './facts.js'
import { tableOf } from './levels.js'
import { compileInScope } from './pairwise.js'
import type { Rule } from './rule.js'
import { A_SCALAR, valuesOf, type Scalar, type Wanted } from './values.js'

export function compileEqual(rule: Rule & EqualRule, context: RuleContext): CompiledRule {
  const { attribute, scope = 'match', missing, name } = rule
  const wanted: Wanted<Scalar> = { attribute, type: A_SCALAR, missing, rule: name }
  const valueOf = (ticket: RuleTicket, refuse: Refuse): Scalar | undefined => {
    const values = valuesOf(ticket, wanted, refuse)
    if (values.some((value) => value !== values[0])) {
      throw refuse('players', `differ in ${attribute}, and rule ${JSON.stringify(name)} wants them equal`)
    }
    return values[0]
  }
  const counts = tableOf(context.levels, 1, 0, rule)
  // A rule that never relaxes and applies to all tickets becomes a key, which separates tickets before any other check.
  const isForAll = scope === 'match' || context.teams.length === 1
  if (isForAll && context.isInner !== true && missing !== 'any' && counts.every((count) => count === 1)) {
    return { rule, keyOf: (ticket, refuse) => valueOf(ticket, refuse) ?? '' }
  }
  const { index } = context
  const allows = (one: Facts, other: Facts) => {
    const [a, b] = [one.of[index], other.of[index]]
    return a === b || a === undefined || b === undefined
  }
  return { ...compileInScope(scope, rule, context, counts, allows), factOf: valueOf }
}
