// pure: the avoid rule
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { AvoidRule } from './definition.js'
import type { Facts } from './facts.js'
import { tableOf } from './levels.js'
import { compilePairwise } from './pairwise.js'
import type { Rule } from './rule.js'

export function compileAvoid(rule: Rule & AvoidRule, context: RuleContext): CompiledRule {
  const { index } = context
  /** Whether a player of one ticket is on an avoid list of the other. Most lists are empty. */
  const avoids = (one: Facts, other: Facts) => {
    const avoided = one.of[index] as ReadonlySet<string> | undefined
    return avoided !== undefined && other.ticket.players.some(({ id }) => avoided.has(id))
  }
  const counts = tableOf(context.levels, 1, 0, rule)
  return {
    ...compilePairwise(rule, context, counts, (one, other) => !avoids(one, other) && !avoids(other, one)),
    factOf: ({ players }) => {
      const avoided = new Set(players.flatMap(({ avoid }) => avoid))
      return avoided.size === 0 ? undefined : avoided
    },
  }
}
