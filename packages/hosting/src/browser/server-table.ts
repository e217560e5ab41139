// pure: the list of servers in columns, so that a scan of ten thousand reads adjacent numbers
import type { Browser } from './browser-definition.js'
import type { ListedPlace, ListedServer } from './listed-servers.js'
import { type Clause, fieldNames, type PingOf, serverField } from './server-filter.js'
import { type SortOrder, type ReadQuery, type ServerPage, topOf } from './server-pages.js'

/**
 * Number of distinct strings from which the columns are rebuilt from the current servers. If these have more strings,
 * the next rebuild waits until the number has doubled, because each one takes as long as writing all servers.
 */
const MANY_TEXTS = 100_000
/** Fields without a column, because their values differ from server to server. They are read from the servers. */
const NO_COLUMN: ReadonlySet<string> = new Set(['name', 'ping'])

type RowTest = (row: number) => boolean
type RowValue = (row: number) => number

/** Stores the listed servers in rows. Removing a server moves the last row into its place. */
export function createServerTable(browser: Pick<Browser, 'attributes'>) {
  const rows: ListedServer[] = []
  const rowOf = new Map<string, number>()
  const texts = new Map<string, number>()
  let mostTexts = MANY_TEXTS
  let capacity = 256
  /** The columns by field name. NaN means no value. Strings are stored as indexes into `texts`, booleans as 0 and 1. */
  const columns = new Map<string, Float64Array>()
  for (const name of fieldNames(browser)) if (!NO_COLUMN.has(name)) columns.set(name, new Float64Array(capacity))
  /** Index of the location of each row. -1 if unknown. */
  let placeOf = new Int32Array(capacity).fill(-1)
  const places = new Map<number, ListedPlace>()
  const fields = Array.from(columns.keys(), (name) => ({ name, field: serverField(browser, name) }))

  const numberOf = (value: string | number | boolean | undefined): number => {
    if (typeof value === 'number') return value
    if (typeof value === 'boolean') return Number(value)
    if (value === undefined) return Number.NaN
    let number = texts.get(value)
    if (number === undefined) texts.set(value, (number = texts.size))
    return number
  }
  const noPing = () => undefined
  const write = (row: number, server: ListedServer) => {
    rows[row] = server
    rowOf.set(server.id, row)
    for (const { name, field } of fields)
      (columns.get(name) as Float64Array)[row] = numberOf(field?.read(server, noPing))
    const { place } = server
    placeOf[row] = place?.number ?? -1
    if (place?.number !== undefined) places.set(place.number, place)
  }
  const grow = () => {
    capacity *= 2
    for (const [name, column] of columns) {
      const wider = new Float64Array(capacity)
      wider.set(column)
      columns.set(name, wider)
    }
    const wider = new Int32Array(capacity)
    wider.set(placeOf)
    placeOf = wider
  }

  /** Returns the round trip of each row in milliseconds. NaN if unknown. */
  const pingsBy = (pingOf: PingOf): RowValue => {
    const byPlace: number[] = []
    const unplaced = rows.length === 0 ? undefined : { ...(rows[0] as ListedServer) }
    for (const [number, place] of places) byPlace[number] = (unplaced && pingOf({ ...unplaced, place })) ?? Number.NaN
    return (row) => byPlace[placeOf[row] as number] ?? Number.NaN
  }

  const valuesBy = (name: string, pings: RowValue): RowValue | undefined => {
    if (name === 'ping') return pings
    const column = columns.get(name)
    return column && ((row) => column[row] as number)
  }

  const testOf = ({ name, operator, values, test }: Clause, pings: RowValue, pingOf: PingOf): RowTest => {
    const column = columns.get(name)
    const [wanted] = values
    const number = typeof wanted === 'string' ? (texts.get(wanted) ?? -1) : Number(wanted)
    if (name === 'ping') {
      if (operator === 'lt') return (row) => pings(row) < number
      if (operator === 'le') return (row) => pings(row) <= number
    } else if (column !== undefined) {
      if (operator === 'eq') return (row) => column[row] === number
      if (operator === 'lt') return (row) => (column[row] as number) < number
      if (operator === 'le') return (row) => (column[row] as number) <= number
      if (operator === 'gt') return (row) => (column[row] as number) > number
      if (operator === 'ge') return (row) => (column[row] as number) >= number
    }
    return (row) => test(rows[row] as ListedServer, pingOf)
  }

  return {
    set: (server: ListedServer) => {
      const row = rowOf.get(server.id) ?? rows.length
      if (row === capacity) grow()
      if (texts.size > mostTexts) {
        texts.clear()
        for (const [index, one] of rows.entries()) write(index, one)
        mostTexts = Math.max(MANY_TEXTS, texts.size * 2)
      }
      write(row, server)
    },
    remove: (serverId: string) => {
      const row = rowOf.get(serverId)
      if (row === undefined) return
      rowOf.delete(serverId)
      const last = rows.pop()
      if (last !== undefined && last.id !== serverId) write(row, last)
    },

    /** Returns a page of the servers in the table. The result equals that of `pageOf`. */
    page: (query: ReadQuery, pingOf: PingOf): ServerPage => {
      const pings = pingsBy(pingOf)
      const tests = query.clauses.map((clause) => testOf(clause, pings, pingOf))
      const { named } = query
      if (named !== undefined) tests.push((row) => named(rows[row] as ListedServer, pingOf))
      const matching: number[] = []
      scan: for (let row = 0; row < rows.length; row += 1) {
        for (const test of tests) if (!test(row)) continue scan
        matching.push(row)
      }
      const [first] = query.order
      const values = first && isNumber(first) ? valuesBy(first.name, pings) : undefined
      const near = values && first ? nearest(matching, values, first, query) : matching
      const page = topOf(
        near.map((row) => rows[row] as ListedServer),
        query,
        pingOf,
      )
      return { ...page.page, total: matching.length, next: page.next(near.length < matching.length) }
    },
  }
}

const isNumber = ({ field }: SortOrder) => field.type !== 'string'

/** Returns the rows that can be on the first page by the first sort field. For later pages, returns all rows. */
function nearest(
  rows: readonly number[],
  values: RowValue,
  { isDescending }: SortOrder,
  query: ReadQuery,
): readonly number[] {
  const { limit, after } = query
  if (after !== undefined || rows.length <= limit * 2) return rows
  const sign = isDescending ? -1 : 1
  const keyOf = (row: number) => {
    const value = values(row)
    return Number.isNaN(value) ? Infinity : sign * value
  }
  /** The `limit` smallest keys so far, in ascending order. */
  const least: number[] = []
  for (const row of rows) {
    const key = keyOf(row)
    if (least.length === limit && key >= (least.at(-1) as number)) continue
    let at = least.length
    while (at > 0 && key < (least[at - 1] as number)) at -= 1
    least.splice(at, 0, key)
    if (least.length > limit) least.pop()
  }
  const bound = least.at(-1) ?? Infinity
  return rows.filter((row) => keyOf(row) <= bound)
}
