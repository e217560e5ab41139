// pure: filters and order of the deployment list (public fact)
import type { DeploymentFilter } from '@muster/core/api'
import type { DeploymentQuery } from '@muster/core/internal'
import { parseA } from '../timestamps.js'
import { isProblem, type RequestProblem } from './filters.js'

/** The fields of a deployment that a query can use. The names are those of the query. */
export interface QueryFields {
  /** The status in lower case. */
  readonly status: string
  readonly request_id: string
  readonly tags: readonly string[]
  /** Epoch milliseconds. A query states it as a string, in either of the specification's two formats. */
  readonly created_at: number
  readonly application: string
  readonly version: string
  readonly is_joinable_by_session: boolean
  readonly available_session_sockets: number
}

/**
 * Reads one field of a deployment. Fields are read one by one, because most queries use few fields and scan all
 * deployments.
 */
export type ReadField<Item> = <Field extends keyof QueryFields>(item: Item, field: Field) => QueryFields[Field]

/** A parsed query. */
export interface ParsedQuery<Item> {
  readonly keeps: (item: Item) => boolean
  /** The sort order; undefined for the input's order. */
  readonly order: ((a: Item, b: Item) => number) | undefined
}

type Value = string | number | boolean
type Field = keyof QueryFields
/** A test on the value of one field. */
type Test = (value: QueryFields[Field]) => boolean

/** The type of each field. `texts` is a list: a deployment may have several tags. */
const types: Readonly<Record<Field, 'text' | 'time' | 'number' | 'flag' | 'texts'>> = {
  status: 'text',
  request_id: 'text',
  tags: 'texts',
  created_at: 'time',
  application: 'text',
  version: 'text',
  is_joinable_by_session: 'flag',
  available_session_sockets: 'number',
}
const described = {
  text: 'text',
  texts: 'text',
  number: 'a number',
  flag: 'true or false',
  time: 'a time such as 2026-01-31 08:15:30.250000',
}

/**
 * Operators that test whether a field has one of the given values. `list` is true for a list of values, false for a
 * single one.
 */
const memberships = {
  eq: { list: false, negated: false },
  neq: { list: false, negated: true },
  in: { list: true, negated: false },
  nin: { list: true, negated: true },
}
/** Operators that compare the value, by the sign of the comparison. */
const comparisons = {
  lt: (sign: number) => sign < 0,
  lte: (sign: number) => sign <= 0,
  gt: (sign: number) => sign > 0,
  gte: (sign: number) => sign >= 0,
}

const isKeyOf = <T extends object>(key: string, object: T): key is keyof T & string => Object.hasOwn(object, key)
const keysOf = (...objects: readonly object[]) => objects.flatMap(Object.keys).join(', ')
const compare = (a: Value, b: Value) => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Parses a query.
 * @param options.rejectRepeated rejects two filters on one field, as some servers do.
 */
export function understand<Item>(
  query: DeploymentQuery,
  read: ReadField<Item>,
  options: { readonly rejectRepeated: boolean },
): ParsedQuery<Item> | RequestProblem {
  const filters = query.filters ?? []
  const repeated = filters.find(({ field }, index) => filters.findIndex((other) => other.field === field) < index)
  if (options.rejectRepeated && repeated !== undefined) {
    return { problem: `query.filters: at most one filter per field, but ${JSON.stringify(repeated.field)} has several` }
  }
  const checks: { readonly field: Field; readonly passes: Test }[] = []
  for (const [index, filter] of filters.entries()) {
    const check = checkOf(filter, `query.filters[${index}]`)
    if (isProblem(check)) return check
    checks.push(check)
  }
  const orders: ((a: Item, b: Item) => number)[] = []
  for (const [index, { field, order }] of (query.order_by ?? []).entries()) {
    if (!isKeyOf(field, types) || types[field] === 'texts') {
      return { problem: `query.order_by[${index}].field: the list cannot be ordered by ${JSON.stringify(field)}` }
    }
    const sign = order === 'asc' ? 1 : -1
    orders.push((a, b) => sign * compare(read(a, field) as Value, read(b, field) as Value))
  }
  return {
    keeps: (item) => checks.every(({ field, passes }) => passes(read(item, field))),
    order: orders.length === 0 ? undefined : (a, b) => orders.reduce((sign, order) => sign || order(a, b), 0),
  }
}

function checkOf(
  { field, operator, value }: DeploymentFilter,
  where: string,
): { readonly field: Field; readonly passes: Test } | RequestProblem {
  if (!isKeyOf(field, types))
    return { problem: `${where}.field: must be one of ${keysOf(types)}, not ${JSON.stringify(field)}` }
  const passes = testOf(field, operator, value, where)
  return isProblem(passes) ? passes : { field, passes }
}

function testOf(
  field: Field,
  operator: string,
  value: DeploymentFilter['value'],
  where: string,
): Test | RequestProblem {
  if (isKeyOf(operator, memberships)) return membership(field, memberships[operator], value, where)
  if (!isKeyOf(operator, comparisons)) {
    return {
      problem: `${where}.operator: must be one of ${keysOf(memberships, comparisons)}, not ${JSON.stringify(operator)}`,
    }
  }
  if (types[field] === 'texts' || types[field] === 'flag') {
    return { problem: `${where}.operator: ${operator} cannot be used with ${field}` }
  }
  const wanted = valueOf(field, value, where)
  if (isProblem(wanted)) return wanted
  const holds = comparisons[operator]
  return (has) => holds(compare(has as Value, wanted))
}

function membership(
  field: Field,
  how: { readonly list: boolean; readonly negated: boolean },
  value: DeploymentFilter['value'],
  where: string,
): Test | RequestProblem {
  if (how.list !== Array.isArray(value))
    return { problem: `${where}.value: must be ${how.list ? 'a list' : 'a single value'}` }
  const wanted = new Set<Value>()
  for (const each of [value].flat()) {
    const one = valueOf(field, each, where)
    if (isProblem(one)) return one
    wanted.add(one)
  }
  return (has) => {
    const found = typeof has === 'object' ? has.some((each) => wanted.has(each)) : wanted.has(has)
    return found !== how.negated
  }
}

/** Converts a filter's value to the field's type. A time may be in either of the specification's two formats. */
function valueOf(field: Field, value: DeploymentFilter['value'], where: string): Value | RequestProblem {
  const type = types[field]
  if (type === 'number' && typeof value === 'number') return value
  if (type === 'flag' && typeof value === 'boolean') return value
  if ((type === 'text' || type === 'texts') && typeof value === 'string') return value
  const time = type === 'time' && typeof value === 'string' ? (parseA(value) ?? Date.parse(value)) : NaN
  return Number.isNaN(time) ? { problem: `${where}.value: must be ${described[type]} for ${field}` } : time
}
