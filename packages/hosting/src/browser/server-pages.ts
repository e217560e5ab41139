// pure: a page of listed servers: filtered, sorted, starting at a cursor
import type { Browser } from './browser-definition.js'
import type { ListChange, ListedServer } from './listed-servers.js'
import {
  fieldNames,
  LONGEST_CLAUSE,
  type PingOf,
  type QueryFault,
  readFilter,
  type ServerField,
  type ReadFilter,
  serverField,
} from './server-filter.js'

/** A player's query for listed servers, as in the request. */
export interface ServerQuery {
  readonly where?: readonly string[] | undefined
  /** A part of the server's name. */
  readonly q?: string | undefined
  /** Fields to sort by, the most important first. `-` means descending, e.g. `ping,-seats.taken`. */
  readonly sort?: string | undefined
  /** Maximum number of servers on the page, 1 to 100. Default 20. */
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface SortOrder {
  readonly name: string
  readonly field: ServerField
  readonly isDescending: boolean
}

/** A parsed query. */
export interface ReadQuery extends ReadFilter {
  readonly order: readonly SortOrder[]
  readonly limit: number
  readonly after: SortKey | undefined
}

/** Values of the sort fields, followed by the id, which makes the key unique. */
type SortKey = readonly (string | number | boolean | null)[]

export interface ServerPage {
  readonly servers: readonly ListedServer[]
  /** Number of matching servers on all pages together. */
  readonly total: number
  /** Cursor of the next page. Undefined on the last page. */
  readonly next: string | undefined
  /** The sort key of the last server. Undefined if the page is not full. */
  readonly end: SortKey | undefined
}

/** The default order: the nearest servers first, and among equally near ones the fullest. */
const USUAL_SORT = 'ping,-seats.taken'
const MOST_FIELDS = 4
export const LARGEST_PAGE = 100
const USUAL_PAGE = 20
/**
 * Maximum number of characters of a cursor. It holds a text of at most 256 characters for each sort field, and the
 * server's id. JSON takes at most 6 bytes for a character, e.g. `\\u0001`, and base64 adds a third.
 */
export const LONGEST_CURSOR = Math.ceil(((MOST_FIELDS * 256 + 128) * 6 * 4) / 3)

/** Parses a player's query. Returns why the query is invalid, if it is. */
export function readQuery(browser: Pick<Browser, 'attributes'>, query: ServerQuery): ReadQuery | QueryFault {
  const filter = readFilter(browser, query)
  if ('message' in filter) return filter
  const order = readOrder(browser, query.sort ?? USUAL_SORT)
  if ('message' in order) return order
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor, order.length)
  if (after === null) return { field: 'cursor', column: 1, message: 'is not a cursor of this sort order; leave it out' }
  return { ...filter, order, limit: query.limit ?? USUAL_PAGE, after }
}

function readOrder(browser: Pick<Browser, 'attributes'>, sort: string): ReadQuery['order'] | QueryFault {
  if (sort.length > LONGEST_CLAUSE)
    return { field: 'sort', column: LONGEST_CLAUSE + 1, message: `must have at most ${LONGEST_CLAUSE} characters` }
  const order: SortOrder[] = []
  let column = 1
  for (const part of sort.split(',')) {
    const word = part.trim()
    const isDescending = word.startsWith('-')
    const name = isDescending ? word.slice(1) : word
    const field = serverField(browser, name)
    if (field === undefined)
      return { field: 'sort', column, message: `is not a known field; use one of ${fieldNames(browser).join(', ')}` }
    if (order.length === MOST_FIELDS)
      return { field: 'sort', column, message: `must have at most ${MOST_FIELDS} fields` }
    order.push({ name, field, isDescending })
    column += part.length + 1
  }
  return order
}

const cursorOf = (key: SortKey): string => Buffer.from(JSON.stringify(key)).toString('base64url')

/** Returns the sort key in a cursor. Null if the cursor is malformed or of another sort order. */
function readCursor(cursor: string, fields: number): SortKey | null {
  if (cursor.length > LONGEST_CURSOR) return null
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(key) || key.length !== fields + 1 || typeof key.at(-1) !== 'string') return null
    const isValue = (value: unknown) => value === null || ['string', 'number', 'boolean'].includes(typeof value)
    return key.every(isValue) ? (key as SortKey) : null
  } catch {
    return null
  }
}

/** Compares two values. Unknown values (null) come last in both directions. */
function compare(a: SortKey[number], b: SortKey[number], isDescending: boolean): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  const less = typeof a === typeof b ? a < b : typeof a < typeof b
  return less === isDescending ? 1 : -1
}

/** Returns a page of the list. The page is selected in one scan, so the list needs no index. */
export function pageOf(servers: readonly ListedServer[], query: ReadQuery, pingOf: PingOf): ServerPage {
  const { filter } = query
  const matching = servers.filter((server) => filter(server, pingOf))
  const { page, next } = topOf(matching, query, pingOf)
  return { ...page, total: matching.length, next: next(false) }
}

/**
 * Selects the first matching servers after the cursor.
 * @returns the page, and a function for the next page's cursor. `isMore`: there are further servers
 */
export function topOf(
  matching: readonly ListedServer[],
  query: ReadQuery,
  pingOf: PingOf,
): {
  readonly page: Pick<ServerPage, 'servers' | 'end'>
  readonly next: (isMore: boolean) => string | undefined
} {
  const { limit, after } = query
  const best: { readonly server: ListedServer; readonly key: SortKey }[] = []
  let isBeyond = false

  for (const server of matching) {
    if (after !== undefined && compareTo(server, after, query, pingOf) <= 0) continue
    const last = best.length === limit ? best.at(-1) : undefined
    if (last !== undefined) {
      isBeyond = true
      if (compareTo(server, last.key, query, pingOf) >= 0) continue
    }
    const key = keyOf(server, query, pingOf)
    let at = best.length
    while (at > 0 && compareTo(server, (best[at - 1] as { key: SortKey }).key, query, pingOf) < 0) at -= 1
    best.splice(at, 0, { server, key })
    if (best.length > limit) best.pop()
  }
  const end = best.length === limit ? best.at(-1)?.key : undefined
  return {
    page: { servers: best.map(({ server }) => server), end },
    next: (isMore) => ((isBeyond || isMore) && end !== undefined ? cursorOf(end) : undefined),
  }
}

/** The page and the servers after it, in order. */
export interface PageWindow {
  readonly servers: readonly ListedServer[]
  readonly total: number
  /** The sort key of the last server. Undefined if no servers follow. */
  readonly end: SortKey | undefined
}

/** Returns a window after changes of the list. The number of servers in the window may differ. */
export function changedWindow(
  { servers, total, end }: PageWindow,
  changes: readonly ListChange[],
  query: ReadQuery,
  pingOf: PingOf,
): PageWindow {
  const { filter, after: start } = query
  let now: ListedServer[] | undefined
  let count = total
  const isNear = (server: ListedServer) =>
    (start === undefined || compareTo(server, start, query, pingOf) > 0) &&
    (end === undefined || compareTo(server, end, query, pingOf) <= 0)
  for (const [before, after] of changes) {
    const was = before !== undefined && filter(before, pingOf)
    const is = after !== undefined && filter(after, pingOf)
    if (!was && !is) continue
    count += Number(is) - Number(was)
    if (was && isNear(before)) {
      now ??= [...servers]
      const at = now.findIndex(({ id }) => id === before.id)
      if (at !== -1) now.splice(at, 1)
    }
    if (is && isNear(after)) {
      now ??= [...servers]
      const key = keyOf(after, query, pingOf)
      let at = now.length
      while (at > 0 && compareTo(now[at - 1] as ListedServer, key, query, pingOf) > 0) at -= 1
      now.splice(at, 0, after)
    }
  }
  return { servers: now ?? servers, total: count, end }
}

/** Shortens a window to at most `most` servers. */
export function cutWindow(window: PageWindow, most: number, query: ReadQuery, pingOf: PingOf): PageWindow {
  const last = window.servers[most - 1]
  if (last === undefined || window.servers.length === most) return window
  return { ...window, servers: window.servers.slice(0, most), end: keyOf(last, query, pingOf) }
}

function keyOf(server: ListedServer, { order }: ReadQuery, pingOf: PingOf): SortKey {
  const key: (string | number | boolean | null)[] = []
  for (const { field } of order) key.push(field.read(server, pingOf) ?? null)
  key.push(server.id)
  return key
}

/** Compares a server with a sort key. Reads the server's values one by one, until one differs. */
function compareTo(server: ListedServer, key: SortKey, { order }: ReadQuery, pingOf: PingOf): number {
  for (let index = 0; index < order.length; index += 1) {
    const { field, isDescending } = order[index] as ReadQuery['order'][number]
    const by = compare(field.read(server, pingOf) ?? null, key[index] ?? null, isDescending)
    if (by !== 0) return by
  }
  return compare(server.id, key.at(-1) ?? null, false)
}
