// pure: the distance rule
import type { Radius } from '../../kernel/model.js'
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { DistanceRule } from './definition.js'
import { tableOf } from './levels.js'
import type { Rule } from './rule.js'
import { chordSquared } from '../../places.js'

export function compileDistance(rule: Rule & DistanceRule, { levels }: RuleContext): CompiledRule {
  const { missing = 'network' } = rule
  const km = tableOf(levels, rule.maxKm, Infinity, rule)
  const radius: Radius = { by: rule.by, squared: km.map(chordSquared), unknown: missing === 'network' ? 'network' : 'any' }
  if (missing !== 'refuse') return { rule, radius }
  return {
    rule,
    radius,
    factOf: (ticket, refuse) => {
      if (ticket.place !== undefined || ticket.players.length === 0) return
      throw refuse('players', `must be somewhere: rule ${JSON.stringify(rule.name)} wants their coordinates`)
    },
  }
}
