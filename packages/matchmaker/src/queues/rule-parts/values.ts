// pure: the players' values of an attribute, compared and aggregated
import { type Comparison, type Missing, type Operator, PARTY_SIZE } from './rule-base.js'
import type { Facts, Refuse, RuleTicket, Scalar } from './rule-types.js'

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

/** The attribute that a rule reads from each player. */
export interface WantedValue<Value> {
  readonly attribute: string
  readonly type: ValueType<Value>
  readonly missing: Missing<Value> | undefined
  /** Name of the rule, for errors. */
  readonly rule: string
}

/**
 * Returns a player's value of the attribute, or the rule's default if the player has none. Returns undefined if the
 * rule does not restrict such players.
 * @throws what `refuse` creates, if the attribute is missing or of another type
 */
function valueOf<Value>(
  { players }: RuleTicket,
  index: number,
  wanted: WantedValue<Value>,
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
      `${wrong}: rule ${JSON.stringify(rule)} requires ${type.called}`,
    )
  }
  return missing === 'any' ? undefined : missing.value
}

/** Returns the value that the rule restricts, of each player who has one. @throws like `valueOf` */
export function valuesOf<Value>(ticket: RuleTicket, wanted: WantedValue<Value>, refuse: Refuse): Value[] {
  const values = ticket.players.map((_, index) => valueOf(ticket, index, wanted, refuse))
  return values.includes(undefined) ? values.filter((value) => value !== undefined) : (values as Value[])
}

/** Returns the number of these tickets' players who have a value for a rule, including the rule's default. */
export function countOf(
  members: readonly Facts[],
  { attribute, missing }: Pick<WantedValue<unknown>, 'attribute' | 'missing'>,
): number {
  const isForAll = attribute === PARTY_SIZE || typeof missing === 'object'
  const has = ({ attributes }: { readonly attributes: object }) => isForAll || Object.hasOwn(attributes, attribute)
  return members.reduce((sum, { ticket }) => sum + ticket.players.filter(has).length, 0)
}

export function compares(one: number, operator: Comparison, other: number): boolean {
  switch (operator) {
    case '=':
      return one === other
    case '!=':
      return one !== other
    case '<':
      return one < other
    case '<=':
      return one <= other
    case '>':
      return one > other
    case '>=':
      return one >= other
  }
}

type Comparable = Scalar | readonly string[]

/** Compares two values by an operator. The operator must allow their types. */
export function holdsBetween(one: Comparable, operator: Operator, other: Comparable): boolean {
  switch (operator) {
    case '=':
      return one === other
    case '!=':
      return one !== other
    case 'in':
      return (other as readonly string[]).includes(one as string)
    case 'not in':
      return !(other as readonly string[]).includes(one as string)
    case 'contains':
      return (one as readonly string[]).includes(other as string)
    case 'excludes':
      return !(one as readonly string[]).includes(other as string)
    default:
      return compares(one as number, operator, other as number)
  }
}

/** The numbers of a ticket's players, reduced to what every aggregate needs. */
export interface Tally {
  readonly count: number
  readonly sum: number
  readonly min: number
  readonly max: number
}

type Aggregate = 'avg' | 'min' | 'max' | 'sum'

export function tallyOf(values: readonly number[]): Tally {
  let sum = 0
  let min = Infinity
  let max = -Infinity
  for (const value of values) {
    sum += value
    if (value < min) min = value
    if (value > max) max = value
  }
  return { count: values.length, sum, min, max }
}

/** The values that an aggregate can reach. */
export interface Range {
  readonly low: number
  readonly high: number
}

export const ANYTHING: Range = { low: -Infinity, high: Infinity }

/** Relative tolerance for rounding errors, so that they exclude nothing exactly at the limit. */
const ROUNDING = 1e-9

/**
 * Creates the function that returns the lowest and the highest number of any player. It remembers the last list,
 * because a search passes the same list many times.
 */
export function createExtremes(rule: number): (others: readonly Facts[]) => Range {
  let last: readonly Facts[] | undefined
  let extremes = ANYTHING
  return (others) => {
    if (others === last) return extremes
    let [low, high] = [Infinity, -Infinity]
    for (const { of } of others) {
      const { min, max } = of[rule] as Tally
      if (min < low) low = min
      if (max > high) high = max
    }
    last = others
    extremes = { low, high }
    return extremes
  }
}

/**
 * Returns the range of a team's aggregate if up to `room` more players join. Players who join have numbers between the
 * extremes, or no number.
 */
export function rangeOf(
  team: readonly Facts[],
  rule: number,
  aggregate: Aggregate,
  room: number,
  { low: least, high: most }: Range,
): Range {
  const own = aggregateOf(team, rule, aggregate)
  if (room === 0 || least > most) return Number.isNaN(own) ? ANYTHING : { low: own, high: own }
  if (Number.isNaN(own)) return ANYTHING
  if (aggregate === 'min') return { low: Math.min(own, least), high: own }
  if (aggregate === 'max') return { low: own, high: Math.max(own, most) }
  if (aggregate === 'sum') return widened(own + Math.min(0, room * least), own + Math.max(0, room * most))
  const count = team.reduce((sum, { of }) => sum + (of[rule] as Tally).count, 0)
  const joinedBy = (value: number) => (own * count + room * value) / (count + room)
  return widened(Math.min(own, joinedBy(least)), Math.max(own, joinedBy(most)))
}

const widened = (low: number, high: number): Range => ({
  low: low - ROUNDING * Math.abs(low),
  high: high + ROUNDING * Math.abs(high),
})

/** Returns the aggregate over all players of a team who have a number; NaN if none has one, except for a sum. */
export function aggregateOf(team: readonly Facts[], rule: number, aggregate: Aggregate): number {
  let [count, sum, min, max] = [0, 0, Infinity, -Infinity]
  for (const facts of team) {
    const tally = facts.of[rule] as Tally
    count += tally.count
    sum += tally.sum
    if (tally.min < min) min = tally.min
    if (tally.max > max) max = tally.max
  }
  if (aggregate === 'sum') return sum
  if (count === 0) return Number.NaN
  return aggregate === 'avg' ? sum / count : aggregate === 'min' ? min : max
}
