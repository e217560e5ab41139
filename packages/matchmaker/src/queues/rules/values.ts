// pure: what the players of a ticket have for an attribute
import { PARTY_SIZE } from './definition.js'
import type { Refuse, RuleTicket } from './facts.js'
import type { Missing } from './rule-base.js'

/** A type of attribute, and its name in errors. */
export interface ValueType<Value> {
  readonly called: string
  readonly is: (value: unknown) => value is Value
}

export const A_NUMBER: ValueType<number> = {
  called: 'a number',
  is: (value): value is number => Number.isFinite(value),
}
export const A_TEXT: ValueType<string> = { called: 'a text', is: (value): value is string => typeof value === 'string' }
/** A single value, not a list. */
export type Scalar = number | string | boolean
export const A_SCALAR: ValueType<Scalar> = {
  called: 'a number, a text or a boolean',
  is: (value): value is Scalar => A_TEXT.is(value) || A_NUMBER.is(value) || typeof value === 'boolean',
}
export const A_BOOLEAN: ValueType<boolean> = {
  called: 'a boolean',
  is: (value): value is boolean => typeof value === 'boolean',
}
export const A_LIST: ValueType<readonly string[]> = {
  called: 'a list of texts',
  is: (value): value is readonly string[] => Array.isArray(value) && value.every(A_TEXT.is),
}

/** What a rule reads from each player. */
export interface Wanted<Value> {
  readonly attribute: string
  readonly type: ValueType<Value>
  readonly missing: Missing<Value> | undefined
  /** Name of the rule, for errors. */
  readonly rule: string
}

/**
 * The attribute's value of a player, or the rule's default if the player has none; undefined if the rule does not
 * restrict such players.
 * @throws what `refuse` makes, if the attribute is missing or of another type
 */
export function valueOf<Value>(
  { players }: RuleTicket,
  index: number,
  wanted: Wanted<Value>,
  refuse: Refuse,
): Value | undefined {
  const { attribute, type, missing = 'refuse', rule } = wanted
  if (attribute === PARTY_SIZE && type.is(players.length)) return players.length
  const attributes = players[index]?.attributes ?? {}
  const value = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined
  if (type.is(value)) return value
  if (value !== undefined || missing === 'refuse') {
    const wrong = value === undefined ? 'is missing' : `is not ${type.called}`
    throw refuse(
      `players.${index}.attributes.${attribute}`,
      `${wrong}: rule ${JSON.stringify(rule)} wants ${type.called}`,
    )
  }
  return missing === 'any' ? undefined : missing.value
}

/** The values of all players, without those whom the rule does not restrict. @throws as `valueOf` */
export function valuesOf<Value>(ticket: RuleTicket, wanted: Wanted<Value>, refuse: Refuse): Value[] {
  const values: Value[] = []
  for (let index = 0; index < ticket.players.length; index += 1) {
    const value = valueOf(ticket, index, wanted, refuse)
    if (value === undefined) continue
    // Most tickets have one player, and an array literal takes less memory than an array that grows.
    if (ticket.players.length === 1) return [value]
    values.push(value)
  }
  return values
}
