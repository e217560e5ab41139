// pure: the difference rule
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { DifferenceRule } from './definition.js'
import type { Facts, Refuse, RuleTicket } from './facts.js'
import { tableOf } from './levels.js'
import { compileApart } from './pairwise.js'
import type { Rule } from './rule.js'
import { A_NUMBER, valueOf, type Wanted } from './values.js'

type Bounds = readonly [low: number, high: number]

const ANYTHING: Bounds = [Number.NaN, Number.NaN]

export function compileDifference(rule: Rule & DifferenceRule, context: RuleContext): CompiledRule {
  const { party = 'avg' } = rule
  const { levels, index: at } = context
  const limit = tableOf(levels, rule.max, Infinity, rule)
  const most = limit[levels.last] ?? Infinity
  const wanted: Wanted<number> = { attribute: rule.attribute, type: A_NUMBER, missing: rule.missing, rule: rule.name }
  const boundsOf = (ticket: RuleTicket, refuse: Refuse): Bounds => {
    // The numbers are not collected in an array, because this runs for every new ticket.
    let count = 0
    let sum = 0
    let min = Infinity
    let max = -Infinity
    for (let index = 0; index < ticket.players.length; index += 1) {
      const value = valueOf(ticket, index, wanted, refuse)
      if (value === undefined) continue
      count += 1
      sum += value
      if (value < min) min = value
      if (value > max) max = value
    }
    if (count === 0) return ANYTHING
    if (party !== 'each') {
      const value = party === 'avg' ? sum / count : party === 'min' ? min : max
      return [value, value]
    }
    if (max - min > most) {
      const allowed = `rule ${JSON.stringify(rule.name)} never allows more than ${most}`
      throw refuse('players', `differ by ${max - min} in ${rule.attribute}, and ${allowed}`)
    }
    return [min, max]
  }
  if (context.isInner !== true) return { rule, span: { by: rule.by, limit }, boundsOf }
  const isWithin = (one: Facts, other: Facts, allowed: number) => {
    const [[low, high], [least, greatest]] = [one.of[at] as Bounds, other.of[at] as Bounds]
    // NaN, of a ticket that goes with any value, is never above the limit.
    return !(Math.max(high, greatest) - Math.min(low, least) > allowed)
  }
  return { ...compileApart(rule, context, limit, isWithin), factOf: boundsOf }
}
