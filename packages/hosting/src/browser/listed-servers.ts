import { isDeepStrictEqual } from 'node:util'
import type { Random } from '@muster/core/clock'
import { deepFreeze, newId } from '@muster/core/internal'
import type { SeatCounts } from '../game-servers/index.js'

/** The public data of a server that players may join. Players' ids, addresses and passwords are not included. */
export interface ListedServer {
  readonly id: string
  readonly name: string
  /** Name of the server's pool, or of its match's queue. */
  readonly pool: string
  readonly build: string | undefined
  readonly place: ListedPlace | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** True if players may join while the server has free seats. */
  readonly isOpen: boolean
  readonly hasPassword: boolean
  readonly seats: SeatCounts
  /** A server without teams has one team, whose name is ''. */
  readonly teams: readonly { readonly name: string; readonly total: number; readonly free: number }[]
}

export interface ListedPlace {
  readonly city: string | undefined
  readonly country: string | undefined
  readonly latitude: number
  readonly longitude: number
  /** Index of the location, from 0. Set only in a copy by `createServerList`, for at most `MOST_PLACES` locations. */
  readonly number?: number | undefined
}

/** The changes of the server list since a reader's last read. */
export interface ListChanges {
  /** Id of the list. A list in another process has another id. */
  readonly epoch: string
  readonly version: number
  /** The version of the list at the reader's first read. */
  readonly since: number
  /** True if the reader must replace its earlier copy. */
  readonly isNew: boolean
  readonly servers: readonly ListedServer[]
  readonly gone: readonly string[]
  /** True if further changes did not fit into this response. The reader must read again at once. */
  readonly more: boolean
}

/** The state of a reader's copy after the last response. */
export type ListKnown = Pick<ListChanges, 'epoch' | 'version' | 'since'>

/** Maximum number of servers in one response, so that a response fits into one message. */
const MOST_IN_ANSWER = 1000
/** Maximum number of remembered removals. A reader that may have missed older ones gets the whole list again. */
const MOST_GONE = 10_000
/** Maximum number of changed servers that wait for the next read of the list, because there may be no readers. */
const MOST_TOUCHED = 10_000

/**
 * Creates the list of servers. Each change gets a version, so that readers in other processes fetch only the changes.
 * @param read returns the current data of a server. Undefined if the server is not listed
 */
export function createListedServers(read: (serverId: string) => ListedServer | undefined, random: Random) {
  const epoch = newId(random)
  /** The listed servers, ordered by version, the oldest first. */
  const rows = new Map<string, { readonly row: ListedServer; readonly version: number }>()
  const gone = new Map<string, number>()
  const touched = new Set<string>()
  let version = 0
  /** Removals up to this version are forgotten. A reader with a lower version gets the whole list again. */
  let knownFrom = 0

  const settle = () => {
    for (const id of touched) {
      const row = read(id)
      if (isDeepStrictEqual(row, rows.get(id)?.row)) continue
      version += 1
      rows.delete(id)
      gone.delete(id)
      if (row !== undefined) rows.set(id, { row: deepFreeze(row), version })
      else gone.set(id, version)
    }
    touched.clear()
    for (const [id, at] of gone) {
      if (gone.size <= MOST_GONE) break
      gone.delete(id)
      knownFrom = at
    }
  }

  return {
    /** Records that a server's data may have changed. */
    touch: (serverId: string) => {
      touched.add(serverId)
      if (touched.size > MOST_TOUCHED) settle()
    },
    changes: (known: ListKnown | undefined): ListChanges => {
      settle()
      // A reader never saw servers that were removed before its first read, so only later removals count.
      const isNew = known?.epoch !== epoch || Math.max(known.version, known.since) < knownFrom
      const [from, since] = isNew ? [0, version] : [known.version, known.since]
      const servers: ListedServer[] = []
      let last = from
      let more = false
      for (const { row, version: at } of rows.values()) {
        if (at <= from) continue
        if (servers.length === MOST_IN_ANSWER) {
          more = true
          break
        }
        servers.push(row)
        last = at
      }
      const seenTo = Math.max(from, since)
      const lost = Array.from(gone).flatMap(([id, at]) => (at > seenTo ? [id] : []))
      return { epoch, version: more ? last : version, since, isNew, servers, gone: lost, more }
    },
  }
}

/** A server's data before and after a change. Undefined while the server is not in the list. */
export type ListChange = readonly [before: ListedServer | undefined, after: ListedServer | undefined]

/** Maximum number of locations with an index (our choice). Servers at any further location have no ping in a page. */
const MOST_PLACES = 10_000

/** Creates a copy of the server list, for use in any process. */
export function createServerList() {
  let known: ListKnown | undefined
  const servers = new Map<string, ListedServer>()
  let all: readonly ListedServer[] = []
  /**
   * Servers of the previous list that the new list has not contained so far. They are removed at the new list's end.
   */
  let unnamed = new Set<string>()
  const byPlace = new Map<string, ListedPlace>()

  const numbered = (place: ListedPlace): ListedPlace => {
    const key = `${place.latitude} ${place.longitude} ${place.city ?? ''}`
    const before = byPlace.get(key)
    if (before !== undefined) return before
    if (byPlace.size === MOST_PLACES) return place
    const made = { ...place, number: byPlace.size }
    byPlace.set(key, made)
    return made
  }

  return {
    /** Returns the listed servers. Each change creates another array. */
    all: (): readonly ListedServer[] => all,
    find: (serverId: string): ListedServer | undefined => servers.get(serverId),
    /** Returns the state of this copy, the argument of the next `changes`. */
    known: (): ListKnown | undefined => known,
    /** Applies changes of the list. Returns the changed servers. */
    apply: ({ epoch, version, since, isNew, servers: changed, gone, more }: ListChanges): readonly ListChange[] => {
      known = { epoch, version, since }
      const different: ListChange[] = []
      if (isNew) unnamed = new Set(servers.keys())
      for (const { id } of changed) unnamed.delete(id)
      for (const id of more ? gone : [...gone, ...unnamed]) {
        const before = servers.get(id)
        if (servers.delete(id)) different.push([before, undefined])
      }
      if (!more) unnamed.clear()
      for (const row of changed) {
        const after = row.place === undefined ? row : { ...row, place: numbered(row.place) }
        different.push([servers.get(row.id), after])
        servers.set(row.id, after)
      }
      if (different.length > 0) all = [...servers.values()]
      return different
    },
  }
}
