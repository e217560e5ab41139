// pure: the distance rule
import { chordSquared, greatCircleKm } from '@muster/core'
import type { Radius } from '@muster/kernel'
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { DistanceRule } from './definition.js'
import type { Facts, Refuse, RuleTicket } from './facts.js'
import { tableOf } from './levels.js'
import { compileApart } from './pairwise.js'
import type { Rule } from './rule.js'

export function compileDistance(rule: Rule & DistanceRule, context: RuleContext): CompiledRule {
  const { missing = 'network' } = rule
  const km = tableOf(context.levels, rule.maxKm, Infinity, rule)
  const factOf = (ticket: RuleTicket, refuse: Refuse): void => {
    if (ticket.place !== undefined || ticket.players.length === 0) return
    throw refuse('players', `must be somewhere: rule ${JSON.stringify(rule.name)} wants their coordinates`)
  }
  const demand = missing === 'refuse' ? { factOf } : {}
  if (context.isInner === true) return { ...compileApart(rule, context, km, nearOf(missing)), ...demand }
  const radius: Radius = {
    by: rule.by,
    squared: km.map(chordSquared),
    unknown: missing === 'network' ? 'network' : 'any',
  }
  return { rule, radius, ...demand }
}

/** Whether two tickets are at most `km` apart, by the same rules as the kernel's radius. */
const nearOf =
  (missing: DistanceRule['missing']) =>
  ({ ticket: one }: Facts, { ticket: other }: Facts, km: number): boolean => {
    if (one === other) return true
    if (one.place !== undefined && other.place !== undefined) return greatCircleKm(one.place, other.place) <= km
    return missing === 'any' || (one.network !== undefined && one.network === other.network)
  }
