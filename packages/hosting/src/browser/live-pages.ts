import type { Clock } from '@muster/core/clock'
import { type Awaitable, createTicker } from '@muster/core/internal'
import { Unavailable } from '../errors.js'
import {
  createServerList,
  type ListChange,
  type ListChanges,
  type ListedServer,
  type ListKnown,
} from './listed-servers.js'
import type { PingOf } from './server-filter.js'
import type { Browser } from './browser-definition.js'
import { changedWindow, cutWindow, type PageWindow, type ReadQuery, type ServerPage } from './server-pages.js'
import { createServerTable } from './server-table.js'

/** What has changed on a page since the viewer last saw it. */
export interface PageChange {
  /** The first one: all of the page. */
  readonly isWhole: boolean
  /** Servers that are new on the page, or differ. */
  readonly servers: readonly ListedServer[]
  /** Ids of the servers on the page, in its order; undefined: as before. */
  readonly order: readonly string[] | undefined
  readonly total: number
}

/** The list as players read it: a copy that is at most a second old, and pages of it that are followed. */
export type ServerReader = ReturnType<typeof createServerReader>

/** Milliseconds for which a copy of the list is good enough, and between two changes of a page. */
const FRESH_MS = 1000
/** Changes of the list from which a page is made again without looking at each. */
const MANY = 2000
/** How many times as wide as a page its window is. */
const WIDER = 2

interface Followed {
  readonly query: ReadQuery
  readonly pingOf: PingOf
  readonly viewers: Set<(change: PageChange) => void>
  /** More than the page, so that most changes need no other look at the list. */
  window: PageWindow
}

export interface ServerReaderOptions {
  /** Reads what has changed: `listedServers` of the matchmaker. */
  readonly read: (known: ListKnown | undefined) => Awaitable<ListChanges>
  readonly browser: Pick<Browser, 'attributes'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

export function createServerReader({ read, browser, clock, onError }: ServerReaderOptions) {
  const list = createServerList()
  const table = createServerTable(browser)
  const followed = new Map<string, Followed>()
  let readAt = -Infinity
  let reading: Promise<void> | undefined

  const refresh = async () => {
    let changes: ListChanges
    do {
      changes = await read(list.known())
      const different = list.apply(changes)
      for (const [before, after] of different) {
        if (after !== undefined) table.set(after)
        else if (before !== undefined) table.remove(before.id)
      }
      // Before anybody begins a page of the list as it is now.
      if (different.length > 0) for (const one of followed.values()) turn(one, different)
    } while (changes.more)
    readAt = clock.now()
  }
  const refreshed = (): Promise<void> => {
    if (clock.now() - readAt < FRESH_MS) return Promise.resolve()
    return (reading ??= refresh().finally(() => {
      reading = undefined
    }))
  }

  const windowOf = (query: ReadQuery, pingOf: PingOf): PageWindow => {
    const { servers, total, end } = table.page({ ...query, limit: query.limit * WIDER }, pingOf)
    return { servers, total, end }
  }

  const turn = (one: Followed, changes: readonly ListChange[]) => {
    const { query, pingOf, window: before } = one
    let after = changes.length > MANY ? undefined : changedWindow(before, changes, query, pingOf)
    if (after === undefined || (after.end !== undefined && after.servers.length < query.limit))
      after = windowOf(query, pingOf)
    else if (after.servers.length > query.limit * WIDER * 2)
      after = cutWindow(after, query.limit * WIDER, query, pingOf)
    one.window = after
    const change = changeOf(pageIn(before, query), pageIn(after, query))
    if (change !== undefined) for (const changed of one.viewers) changed(change)
  }

  const ticker = createTicker({
    clock,
    everyMs: FRESH_MS,
    tick: () =>
      refreshed().catch((error: unknown) => {
        // Pages stay as they are until servers have registered again.
        if (!(error instanceof Unavailable)) onError(error)
      }),
    isNeeded: () => followed.size > 0,
  })

  return {
    /** Resolves once the list is as it was within the last second. Rejects if it cannot be read. */
    fresh: refreshed,
    all: list.all,
    page: table.page,
    find: list.find,
    /**
     * Follows a page. Viewers of the same page share it.
     * @param key the same for all who look for the same, from the same place
     * @param changed called with the whole page at once, and with each change, at most once a second
     * @returns what ends it
     */
    follow: async (
      { key, query, pingOf }: { readonly key: string; readonly query: ReadQuery; readonly pingOf: PingOf },
      changed: (change: PageChange) => void,
    ): Promise<() => void> => {
      await refreshed()
      let one = followed.get(key)
      if (one === undefined) {
        one = { query, pingOf, viewers: new Set(), window: windowOf(query, pingOf) }
        followed.set(key, one)
      }
      const { viewers } = one
      const page = pageIn(one.window, query)
      viewers.add(changed)
      ticker.wake()
      changed({ isWhole: true, servers: page.servers, order: page.servers.map(({ id }) => id), total: page.total })
      return () => {
        viewers.delete(changed)
        if (viewers.size === 0 && followed.get(key)?.viewers === viewers) followed.delete(key)
      }
    },
  }
}

const pageIn = ({ servers, total }: PageWindow, { limit }: ReadQuery): Shown => ({
  servers: servers.length > limit ? servers.slice(0, limit) : servers,
  total,
})

type Shown = Pick<ServerPage, 'servers' | 'total'>

/** Undefined if the viewer sees no difference. */
function changeOf(before: Shown, after: Shown): PageChange | undefined {
  if (before.servers === after.servers && before.total === after.total) return undefined
  const known = new Set(before.servers)
  const servers = after.servers.filter((server) => !known.has(server))
  const isSameOrder =
    before.servers.length === after.servers.length &&
    after.servers.every(({ id }, index) => before.servers[index]?.id === id)
  if (servers.length === 0 && isSameOrder && before.total === after.total) return undefined
  return {
    isWhole: false,
    servers,
    order: isSameOrder ? undefined : after.servers.map(({ id }) => id),
    total: after.total,
  }
}
