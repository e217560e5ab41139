// pure: what the players of a match have in common
import type { Attributes, FoundTicket, InCommon } from '@muster/servers'
import type { Rule } from '../queues/rules/rule.js'

export function inCommon(rules: readonly Rule[], tickets: readonly FoundTicket[]): InCommon {
  let equality: Map<string, string | number | boolean> | undefined
  let intersection: Map<string, readonly string[]> | undefined
  for (const rule of rules) {
    if (rule.kind === 'equal' && rule.scope !== 'team') {
      const [value, ...others] = new Set(valuesOf(tickets, rule.attribute))
      // A rule that gave way lets different ones meet.
      if (value !== undefined && others.length === 0 && !isList(value))
        (equality ??= new Map()).set(rule.attribute, value)
    } else if (rule.kind === 'overlap') {
      const [first = [], ...others] = valuesOf(tickets, rule.attribute).filter(isList)
      ;(intersection ??= new Map()).set(
        rule.attribute,
        first.filter((one) => others.every((list) => list.includes(one))),
      )
    }
  }
  return {
    equality: equality === undefined ? NOTHING : Object.fromEntries(equality),
    intersection: intersection === undefined ? NOTHING : Object.fromEntries(intersection),
  }
}

/** Most queues have no rule of these kinds. */
const NOTHING: Readonly<Record<string, never>> = Object.freeze({})

/** Those of the players who have the attribute. */
const valuesOf = (tickets: readonly FoundTicket[], attribute: string): Attributes[string][] =>
  tickets.flatMap(({ players }) =>
    players.flatMap(({ attributes = NOTHING }) =>
      Object.hasOwn(attributes, attribute) ? [attributes[attribute] as Attributes[string]] : [],
    ),
  )

const isList = (value: Attributes[string]): value is readonly string[] => Array.isArray(value)
