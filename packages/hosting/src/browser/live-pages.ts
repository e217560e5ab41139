import type { Clock } from '@muster/core/clock'
import { type Awaitable, createTicker, createYielder } from '@muster/core/internal'
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

/** The changes of a page since the viewer's last update. */
export interface PageChange {
  /** True for the first update, which contains the whole page. */
  readonly isWhole: boolean
  /** Servers that are new on the page or have changed. */
  readonly servers: readonly ListedServer[]
  /** Ids of the servers on the page, in order. Undefined: unchanged. */
  readonly order: readonly string[] | undefined
  readonly total: number
}

/** Reads the server list for players: keeps a copy at most 1 s old, and updates the pages that players follow. */
export type ServerReader = ReturnType<typeof createServerReader>

/**
 * Maximum age of a copy of the list, and the minimum time between two updates of a page, in milliseconds. With many
 * different pages, a page is updated less often, see `UPDATE_MS`.
 */
const FRESH_MS = 1000
/**
 * Maximum milliseconds of one run that updates pages (our choice), so that players who follow thousands of different
 * pages take at most half of the CPU. The next run begins with the pages that were left out.
 */
const UPDATE_MS = 500
/** Number of changes of the list from which a page is computed anew instead of change by change. */
const MANY = 2000
/** Number of pages in a window. A window is the page and the servers after it. */
const WIDER = 2

interface LivePage {
  readonly query: ReadQuery
  readonly pingOf: PingOf
  readonly viewers: Set<(change: PageChange) => void>
  /** Number of changes of the list that the window contains. */
  changes: number
  /** The page and the servers after it. Most changes of the list then need no new scan. */
  window: PageWindow
}

export interface ServerReaderOptions {
  /** Reads the changes of the list since the known state. */
  readonly read: (known: ListKnown | undefined) => Awaitable<ListChanges>
  readonly browser: Pick<Browser, 'attributes'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

export function createServerReader({ read, browser, clock, onError }: ServerReaderOptions) {
  const list = createServerList()
  const table = createServerTable(browser)
  const followed = new Map<string, LivePage>()
  /** The last changes of the list, the oldest first, and the number of all changes so far. */
  let latest: readonly ListChange[] = []
  let made = 0
  let isUpdating = false
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
      latest = [...latest, ...different].slice(-MANY)
      made += different.length
    } while (changes.more)
    readAt = clock.now()
    void updatePages().catch(onError)
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

  /** Updates the pages that lack changes. Other work runs in between. */
  const updatePages = async (): Promise<void> => {
    if (isUpdating) return
    isUpdating = true
    try {
      const yielder = createYielder(() => clock.now())
      // The loop changes the map's order, so it goes through a copy.
      const due = [...followed].filter(([, one]) => one.changes !== made)
      for (const [key, one] of due) {
        if (yielder.isDue()) await yielder.yieldNow()
        if (yielder.spentMs() > UPDATE_MS) return
        if (followed.get(key) !== one) continue
        update(one)
        // The next run begins with the pages that were not updated for longest.
        followed.delete(key)
        followed.set(key, one)
      }
    } finally {
      isUpdating = false
    }
  }
  const update = (one: LivePage) => {
    const { query, pingOf, window: before } = one
    const lacks = made - one.changes
    one.changes = made
    let after = lacks > latest.length ? undefined : changedWindow(before, latest.slice(-lacks), query, pingOf)
    if (after === undefined || (after.end !== undefined && after.servers.length < query.limit))
      after = windowOf(query, pingOf)
    else if (after.servers.length > query.limit * WIDER * 2)
      after = cutWindow(after, query.limit * WIDER, query, pingOf)
    one.window = after
    const change = changeOf(pageIn(before, query), pageIn(after, query))
    if (change !== undefined) for (const tell of one.viewers) tell(change)
  }

  const ticker = createTicker({
    clock,
    everyMs: FRESH_MS,
    tick: () =>
      refreshed().catch((error: unknown) => {
        // After a restart, game servers register again one by one. Until then the pages stay unchanged, which is not
        // an error.
        if (!(error instanceof Unavailable)) onError(error)
      }),
    isNeeded: () => followed.size > 0,
  })

  return {
    /** Resolves once the copy is at most 1 s old. Rejects if the list cannot be read. */
    fresh: refreshed,
    all: list.all,
    page: table.page,
    find: list.find,
    /**
     * Follows a page. Viewers of the same page share its computation.
     * @param key equal for all viewers with the same query and location
     * @param changed called at once with the whole page, then with each change, at most once a second
     * @returns a function that stops following the page
     */
    follow: async (
      { key, query, pingOf }: { readonly key: string; readonly query: ReadQuery; readonly pingOf: PingOf },
      changed: (change: PageChange) => void,
    ): Promise<() => void> => {
      await refreshed()
      let one = followed.get(key)
      if (one === undefined) {
        one = { query, pingOf, viewers: new Set(), changes: made, window: windowOf(query, pingOf) }
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

const pageIn = ({ servers, total }: PageWindow, { limit }: ReadQuery): ShownPage => ({
  servers: servers.length > limit ? servers.slice(0, limit) : servers,
  total,
})

type ShownPage = Pick<ServerPage, 'servers' | 'total'>

/** Returns the changes of a page. Undefined if the viewer sees no difference. */
function changeOf(before: ShownPage, after: ShownPage): PageChange | undefined {
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
