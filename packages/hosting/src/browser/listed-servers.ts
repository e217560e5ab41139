import { isDeepStrictEqual } from 'node:util'
import type { Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import type { SeatCounts } from '../game-servers/index.js'

/** A server that players may join: what everybody may know of it. Players' ids, addresses and passwords are not. */
export interface ListedServer {
  readonly id: string
  readonly name: string
  /** Name of its pool, or of its match's queue. */
  readonly pool: string
  readonly build: string | undefined
  readonly place: ListedPlace | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Whether it takes players now, if it has free seats. */
  readonly isOpen: boolean
  readonly hasPassword: boolean
  readonly seats: SeatCounts
  /** One of the name '' on a server without teams. */
  readonly teams: readonly { readonly name: string; readonly total: number; readonly free: number }[]
}

export interface ListedPlace {
  readonly city: string | undefined
  readonly country: string | undefined
  readonly latitude: number
  readonly longitude: number
  /** In a `ServerList`: places are numbered from 0, so that a ping is looked up by a number. Undefined: too many. */
  readonly number?: number | undefined
}

/** What has changed in the list since a reader last looked. */
export interface ListChanges {
  /** Of the list: one of another process begins anew. */
  readonly epoch: string
  readonly version: number
  /** The version of the list when the reader began. */
  readonly since: number
  /** Whether what the reader knew before is void. */
  readonly isNew: boolean
  readonly servers: readonly ListedServer[]
  readonly gone: readonly string[]
  /** Whether more has changed than fits into one answer: read again at once. */
  readonly more: boolean
}

/** What a reader of the list knows, by the last answer. */
export type ListKnown = Pick<ListChanges, 'epoch' | 'version' | 'since'>

/** Servers in one answer at most: it has to fit into a message. */
const MOST_IN_ANSWER = 1000
/** Servers that are gone, as remembered for readers; who knows less begins anew. */
const MOST_GONE = 10_000

/**
 * The list of servers, in versions, so that readers in other processes need only what has changed.
 * @param read returns what is known of a server now; undefined: it is not listed.
 */
export function createListedServers(read: (serverId: string) => ListedServer | undefined, random: Random) {
  const epoch = newId(random)
  /** In the order of their versions, the oldest first. */
  const rows = new Map<string, { readonly row: ListedServer; readonly version: number }>()
  const gone = new Map<string, number>()
  const touched = new Set<string>()
  let version = 0
  /** Readers who know less than this have missed servers that are gone. */
  let knownFrom = 0

  const settle = () => {
    for (const id of touched) {
      const row = read(id)
      if (isDeepStrictEqual(row, rows.get(id)?.row)) continue
      version += 1
      rows.delete(id)
      gone.delete(id)
      if (row !== undefined) rows.set(id, { row, version })
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
    /** Something about the server may have changed. */
    touch: (serverId: string) => void touched.add(serverId),
    changes: (known: ListKnown | undefined): ListChanges => {
      settle()
      // What was gone before a reader began, it has never seen.
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

/** A server before and after a change; undefined: it was not in the list, or is not any more. */
export type ListChange = readonly [before: ListedServer | undefined, after: ListedServer | undefined]

/** Places that are numbered at most (our choice). Pages know no ping of servers at others. */
const MOST_PLACES = 10_000

/** A copy of the list, in whichever process it is read. */
export function createServerList() {
  let known: ListKnown | undefined
  const servers = new Map<string, ListedServer>()
  let all: readonly ListedServer[] = []
  /** Servers of a list before, which are gone unless the rest of the new one names them. */
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
    /** The servers as of the last `apply`. A change of the list makes another array. */
    all: (): readonly ListedServer[] => all,
    find: (serverId: string): ListedServer | undefined => servers.get(serverId),
    /** What is known, for `changes`. */
    known: (): ListKnown | undefined => known,
    /** Returns what is different now. */
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
