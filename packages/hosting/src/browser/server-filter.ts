// pure: players' filters over listed servers
import type { AttributeValue, Browser } from './browser-definition.js'
import type { ListedServer } from './listed-servers.js'

/** An invalid filter or sort order: the parameter (`field`), the column from 1, and why. */
export interface QueryFault {
  readonly field: string
  readonly column: number
  readonly message: string
}

type Type = 'string' | 'number' | 'boolean'
/** Returns the round trip to a server in milliseconds. Undefined if unknown. */
export type PingOf = (server: ListedServer) => number | undefined
type FieldReader = (server: ListedServer, pingOf: PingOf) => AttributeValue | undefined

export interface ServerField {
  readonly type: Type
  readonly values?: readonly string[] | undefined
  readonly read: FieldReader
}

export type ServerFilter = (server: ListedServer, pingOf: PingOf) => boolean

export interface Clause {
  readonly name: string
  readonly operator: FilterOperator
  readonly values: readonly AttributeValue[]
  readonly test: ServerFilter
}

/** A parsed filter: all clauses must hold, and the name must contain the search string. */
export interface ReadFilter {
  readonly clauses: readonly Clause[]
  readonly named: ServerFilter | undefined
  /** Returns true if a server matches all clauses and the search string. */
  readonly filter: ServerFilter
}

/** Maximum number of clauses of a filter, and of characters of a clause. */
export const MOST_CLAUSES = 16
export const LONGEST_CLAUSE = 256
const MOST_VALUES = 32

const number = (read: (server: ListedServer) => number): ServerField => ({ type: 'number', read })
const text = (read: (server: ListedServer) => string | undefined): ServerField => ({ type: 'string', read })
const flag = (read: (server: ListedServer) => boolean): ServerField => ({ type: 'boolean', read })

/** The fields that every listed server has. */
const FIELDS: ReadonlyMap<string, ServerField> = new Map([
  ['seats.total', number(({ seats }) => seats.total)],
  ['seats.free', number(({ seats }) => seats.free)],
  ['seats.held', number(({ seats }) => seats.held)],
  ['seats.taken', number(({ seats }) => seats.taken)],
  ['seats.away', number(({ seats }) => seats.away)],
  ['build', text(({ build }) => build)],
  ['place', text(({ place }) => place?.city)],
  ['country', text(({ place }) => place?.country)],
  ['pool', text(({ pool }) => pool)],
  ['name', text(({ name }) => name)],
  ['open', flag(({ isOpen }) => isOpen)],
  ['password', flag(({ hasPassword }) => hasPassword)],
  ['ping', { type: 'number', read: (server, pingOf) => pingOf(server) }],
])

/** Returns a field of listed servers by its name. Undefined if there is no such field. */
export function serverField({ attributes }: Pick<Browser, 'attributes'>, name: string): ServerField | undefined {
  const own = FIELDS.get(name)
  if (own !== undefined) return own
  if (!Object.hasOwn(attributes, name)) return undefined
  const { type, values } = attributes[name] as { type: Type; values?: string[] }
  // The type check excludes inherited properties, such as `constructor`, because they are functions or objects.
  const read: FieldReader = ({ attributes: given }) => {
    const value = given[name]
    return typeof value === type ? value : undefined
  }
  return { type, values, read }
}

export const fieldNames = ({ attributes }: Pick<Browser, 'attributes'>): readonly string[] => [
  ...Object.keys(attributes),
  ...FIELDS.keys(),
]

const OPERATORS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'in', 'contains'] as const
type FilterOperator = (typeof OPERATORS)[number]
const isOperator = (word: string): word is FilterOperator => OPERATORS.some((one) => one === word)

const TAKES: Readonly<Record<Type, ReadonlySet<FilterOperator>>> = {
  string: new Set(['eq', 'ne', 'in', 'contains']),
  number: new Set(['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'in']),
  boolean: new Set(['eq', 'ne']),
}

/** A clause such as `mode eq ctf`: a field, an operator and the value, which is the rest of the string. */
const CLAUSE = /^(\s*)(\S+)(\s+)(\S+)(\s+)(.*?)\s*$/s

/**
 * Parses a filter: all clauses must hold, and the server's name must contain `q`, regardless of case.
 * @param where clauses such as `mode eq ctf`, `seats.free ge 2` and `map in dust,aztec`
 * @returns the filter, or why it is invalid
 */
export function readFilter(
  browser: Pick<Browser, 'attributes'>,
  { where = [], q = '' }: { readonly where?: readonly string[] | undefined; readonly q?: string | undefined },
): ReadFilter | QueryFault {
  if (where.length > MOST_CLAUSES)
    return { field: 'where', column: 1, message: `must have at most ${MOST_CLAUSES} clauses` }
  const clauses: Clause[] = []
  for (const [index, clause] of where.entries()) {
    const read = readClause(browser, clause)
    if ('message' in read) return { field: where.length === 1 ? 'where' : `where.${index}`, ...read }
    clauses.push(read)
  }
  const searched = q.trim().toLowerCase()
  const named: ServerFilter | undefined =
    searched === '' ? undefined : ({ name }) => name.toLowerCase().includes(searched)
  const tests = clauses.map(({ test }) => test)
  const filter = [...tests, ...(named === undefined ? [] : [named])].reduceRight<ServerFilter>(
    (rest, test) => (rest === ALL ? test : (server, pingOf) => test(server, pingOf) && rest(server, pingOf)),
    ALL,
  )
  return { clauses, named, filter }
}

const ALL: ServerFilter = () => true

function readClause(browser: Pick<Browser, 'attributes'>, clause: string): Clause | Omit<QueryFault, 'field'> {
  if (clause.length > LONGEST_CLAUSE)
    return { column: LONGEST_CLAUSE + 1, message: `must have at most ${LONGEST_CLAUSE} characters` }
  const parts = CLAUSE.exec(clause)
  if (parts === null) return { column: 1, message: 'must be a field, an operator and a value, such as mode eq ctf' }
  const [, lead = '', name = '', gap = '', operator = '', space = '', rest = ''] = parts
  const nameAt = lead.length + 1
  const operatorAt = nameAt + name.length + gap.length
  const valueAt = operatorAt + operator.length + space.length
  const field = serverField(browser, name)
  if (field === undefined)
    return { column: nameAt, message: `is not a known field; use one of ${fieldNames(browser).join(', ')}` }
  const takes = TAKES[field.type]
  if (!isOperator(operator) || !takes.has(operator))
    return { column: operatorAt, message: `must be one of ${[...takes].join(', ')} for a ${field.type}` }
  if (rest === '') return { column: valueAt, message: 'must have a value' }
  if (operator === 'contains') {
    const part = rest.toLowerCase()
    const test: ServerFilter = (server, pingOf) => {
      const value = field.read(server, pingOf)
      return typeof value === 'string' && value.toLowerCase().includes(part)
    }
    return { name, operator, values: [], test }
  }
  const texts = operator === 'in' ? rest.split(',') : [rest]
  if (texts.length > MOST_VALUES) return { column: valueAt, message: `must have at most ${MOST_VALUES} values` }
  const values: AttributeValue[] = []
  let column = valueAt
  for (const one of texts) {
    const value = valueOf(field, one.trim())
    if (typeof value === 'object') return { column, ...value }
    values.push(value)
    column += one.length + 1
  }
  return { name, operator, values, test: comparison(field, operator, values) }
}

function valueOf({ type, values }: ServerField, given: string): AttributeValue | { readonly message: string } {
  if (type === 'boolean')
    return given === 'true' || given === 'false' ? given === 'true' : { message: 'must be true or false' }
  if (type === 'number') {
    const value = given === '' ? Number.NaN : Number(given)
    return Number.isFinite(value) ? value : { message: 'must be a number' }
  }
  return values === undefined || values.includes(given) ? given : { message: `must be one of ${values.join(', ')}` }
}

function comparison(
  { read }: ServerField,
  operator: FilterComparison,
  values: readonly AttributeValue[],
): ServerFilter {
  const [wanted] = values as readonly [AttributeValue]
  const among = new Set<AttributeValue | undefined>(values)
  const holds = HOLDS[operator]
  return (server, pingOf) => holds(read(server, pingOf), wanted, among)
}

type FilterComparison = Exclude<FilterOperator, 'contains'>
type Holds = (
  value: AttributeValue | undefined,
  wanted: AttributeValue,
  among: ReadonlySet<AttributeValue | undefined>,
) => boolean

/** The comparison of each operator. An unknown value satisfies only `ne`. */
const HOLDS: Readonly<Record<FilterComparison, Holds>> = {
  eq: (value, wanted) => value === wanted,
  ne: (value, wanted) => value !== wanted,
  in: (value, _, among) => among.has(value),
  lt: (value, wanted) => value !== undefined && value < wanted,
  le: (value, wanted) => value !== undefined && value <= wanted,
  gt: (value, wanted) => value !== undefined && value > wanted,
  ge: (value, wanted) => value !== undefined && value >= wanted,
}
