import type { Coordinates } from '@muster/core'
import type {
  Assignment,
  MatchIntent,
  MatchResumption,
  PlayerWhoLeft,
  ServerIntent,
  ServerResumption,
} from '../records/index.js'

/** A session requested by players that a server of a pool should list, see `SessionWanted`. */
export interface StoredSession {
  readonly session: string
  readonly name: string
  /** Sealed, see `ServerKeys`. */
  readonly password?: string | undefined
  readonly owner?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** The players who wait for the session. Undefined once the session was listed. */
  readonly start?: SessionStart | undefined
}

/** Players who get seats together. */
export interface SeatParty {
  readonly playerIds: readonly string[]
  /** In the order of the players. */
  readonly seatIds: readonly string[]
  readonly groupId?: string | undefined
  /** True if the party had seats on another server that turned out to be full. */
  readonly isMoved?: boolean | undefined
}

/** The players who get seats on a server once it lists the requested session. The first party has requested it. */
export interface SessionStart extends SeatParty {
  /** Further parties with promised seats. */
  readonly joined?: readonly SeatParty[] | undefined
  /** Number of servers that have failed before they listed the session. */
  readonly failures?: number | undefined
  /** The requested location in degrees. */
  readonly near?: Coordinates | undefined
  /** Epoch milliseconds by which the session must be listed. */
  readonly until: number
}

/** An event of a server. The kinds occur in this order for each server. All except the first may be missing. */
export type ServerEntry =
  /** A deployment is about to be requested. A further entry is the next attempt, once the previous one is gone. */
  | ({ readonly kind: 'server'; readonly resumption?: ServerResumption | undefined } & ServerIntent)
  /**
   * The create is about to be sent. The entry is written before its first byte. A server without this entry was never
   * requested, so there is nothing to look for after a restart. `at`: epoch milliseconds.
   */
  | {
      readonly kind: 'sent'
      readonly serverId: string
      readonly at: number
      readonly resumption?: ServerResumption | undefined
    }
  /**
   * The response to the create was lost at `at` (epoch milliseconds). If no list shows the deployment long enough after
   * that, it does not exist.
   */
  | { readonly kind: 'lost'; readonly serverId: string; readonly at: number }
  /** The deployment was created with this `requestId`. */
  | { readonly kind: 'created'; readonly serverId: string; readonly requestId: string }
  /** The server listens, and players may be sent to it. It is stopped `lastsMs` milliseconds after its start. */
  | {
      readonly kind: 'up'
      readonly serverId: string
      readonly lastsMs?: number | undefined
      readonly assignment?: Assignment | undefined
    }
  /** Number of matches that a server of a pool was given so far. */
  | { readonly kind: 'served'; readonly serverId: string; readonly matches: number }
  /** The session that players requested on a server of a pool. Undefined: the server should list none any more. */
  | { readonly kind: 'wanted'; readonly serverId: string; readonly session: StoredSession | undefined }
  /**
   * A server of a pool starts or stops listing itself for players. While it is listed, players may be on it without a
   * report.
   */
  | { readonly kind: 'listed'; readonly serverId: string; readonly isListed: boolean }
  /** An operator has requested that a server takes no more matches. */
  | { readonly kind: 'draining'; readonly serverId: string }
  /** The server is being stopped. No more players may be sent to it. */
  | { readonly kind: 'dropped'; readonly serverId: string }
  /** There is no deployment, or it is gone. The store may forget the server. */
  | { readonly kind: 'gone'; readonly serverId: string }

/** An event of a match. The kinds occur in this order for each match. All except the first may be missing. */
export type MatchEntry =
  /** The match needs a server. A further entry has its current players. */
  | ({ readonly kind: 'match'; readonly resumption?: MatchResumption | undefined } & MatchIntent)
  /** The match's server of a pool from now on. Undefined: none. Written before the server gets the order. */
  | { readonly kind: 'claimed'; readonly matchId: string; readonly serverId: string | undefined }
  /** The match's players were sent to its server at `at` (epoch milliseconds). The match ends `lastsMs` ms later. */
  | {
      readonly kind: 'playing'
      readonly matchId: string
      readonly at: number
      readonly lastsMs?: number | undefined
    }
  /** The current players of the match, and those who have left it so far. */
  | {
      readonly kind: 'players'
      readonly matchId: string
      readonly playerIds: readonly string[]
      readonly left?: readonly PlayerWhoLeft[] | undefined
    }
  /** The match is over, or its players search again. The store may forget it. */
  | { readonly kind: 'over'; readonly matchId: string }

export type HostingEntry = ServerEntry | MatchEntry

/** A server that was not gone at the last write to the store. */
export interface ServerRecord extends ServerIntent {
  /** Epoch milliseconds at which the create was about to be sent. Undefined: never sent, so no deployment exists. */
  readonly sentAt?: number | undefined
  /** Epoch milliseconds at which the response to the create was lost, if that was noticed. */
  readonly lostAt?: number | undefined
  readonly requestId?: string | undefined
  /** True if players were sent to the server and may still be on it. */
  readonly isUp: boolean
  /** True if the server is being stopped. */
  readonly dropped?: boolean | undefined
  /** Set only if the log's `resumes` is true. */
  readonly resumption?: ServerResumption | undefined
  readonly lastsMs?: number | undefined
  readonly assignment?: Assignment | undefined
  /** For a server of a pool: number of matches that it was given. */
  readonly matchesServed?: number | undefined
  /** For a server of a pool: the session that it should list. */
  readonly wanted?: StoredSession | undefined
  /** For a server of a pool: true if it lists itself for players. */
  readonly isListed?: boolean | undefined
  /** True if an operator has requested that the server takes no more matches. */
  readonly draining?: boolean | undefined
}

/** A match that was not over at the last write to the store. `serverId`: the server that serves it or will. */
export interface MatchRecord extends MatchIntent {
  /** Epoch milliseconds since when its players play. Undefined: they do not know the address yet. */
  readonly playingSince?: number | undefined
  readonly lastsMs?: number | undefined
  /** Players who left before its end. */
  readonly left?: readonly PlayerWhoLeft[] | undefined
  /** Set only if the log's `resumes` is true. */
  readonly resumption?: MatchResumption | undefined
}

export type HostingRecord = ServerRecord | MatchRecord

/** Everything that was not over at the last write to the store, oldest first. */
export interface StoredFleet {
  readonly servers: readonly ServerRecord[]
  readonly matches: readonly MatchRecord[]
}

export const isMatch = (one: HostingEntry | HostingRecord): one is MatchEntry | MatchRecord => 'matchId' in one

/** Returns the key of a record among all servers and matches. A match and its own server may have the same id. */
export const keyOf = (one: HostingEntry | HostingRecord): string =>
  isMatch(one) ? `m:${one.matchId}` : `s:${one.serverId}`

/** The kinds of the records of servers and of matches in a store. */
export const SERVER = 'server'
export const MATCH = 'match'

/** Returns the records of both kinds, in order. */
export function fleetOf(records: Iterable<HostingRecord>): StoredFleet {
  const servers: ServerRecord[] = []
  const matches: MatchRecord[] = []
  for (const record of records) {
    if ('matchId' in record) matches.push(record)
    else servers.push(record)
  }
  return { servers, matches }
}

/**
 * Returns the record after an entry. Undefined if there is none. Entries about records that are gone or over change
 * nothing. A server that is being stopped gets no more players.
 */
function afterEntry(before: HostingRecord | undefined, entry: HostingEntry): HostingRecord | undefined {
  if (isMatch(entry)) return afterMatchEntry(before as MatchRecord | undefined, entry)
  return afterServerEntry(before as ServerRecord | undefined, entry)
}

function afterServerEntry(before: ServerRecord | undefined, entry: ServerEntry): ServerRecord | undefined {
  if (entry.kind === 'server') {
    const { kind: _, ...intent } = entry
    // The requests of players and operators also apply to the next attempt. The server's matches wait for that attempt.
    return {
      ...intent,
      isUp: false,
      ...(before?.matchesServed !== undefined && { matchesServed: before.matchesServed }),
      ...(before?.wanted !== undefined && { wanted: before.wanted }),
      ...(before?.draining !== undefined && { draining: before.draining }),
    }
  }
  if (before === undefined) return undefined
  switch (entry.kind) {
    case 'sent':
      return { ...before, sentAt: entry.at, ...(entry.resumption && { resumption: entry.resumption }) }
    case 'lost':
      return { ...before, lostAt: entry.at }
    case 'created':
      return { ...before, requestId: entry.requestId }
    case 'up': {
      const { lastsMs, assignment } = entry
      return before.dropped === true ? before : { ...before, isUp: true, lastsMs, assignment }
    }
    case 'dropped': {
      const { lastsMs: _, assignment: __, ...rest } = before
      return { ...rest, isUp: false, dropped: true }
    }
    case 'served':
      return { ...before, matchesServed: entry.matches }
    case 'wanted': {
      const { wanted: _, ...rest } = before
      return entry.session === undefined ? rest : { ...rest, wanted: entry.session }
    }
    case 'listed':
      return { ...before, isListed: entry.isListed }
    case 'draining':
      return { ...before, draining: true }
    case 'gone':
      return undefined
  }
}

function afterMatchEntry(before: MatchRecord | undefined, entry: MatchEntry): MatchRecord | undefined {
  if (entry.kind === 'match') {
    const { kind: _, ...intent } = entry
    return intent
  }
  if (before === undefined) return undefined
  switch (entry.kind) {
    case 'claimed': {
      const { serverId: _, ...rest } = before
      return entry.serverId === undefined ? rest : { ...rest, serverId: entry.serverId }
    }
    case 'playing':
      return { ...before, playingSince: entry.at, ...(entry.lastsMs !== undefined && { lastsMs: entry.lastsMs }) }
    case 'players':
      return { ...before, playerIds: entry.playerIds, ...(entry.left !== undefined && { left: entry.left }) }
    case 'over':
      return undefined
  }
}

/** Returns the records that entries change, by key. Undefined: the record is gone. */
export function afterEntries(
  open: { readonly get: (key: string) => HostingRecord | undefined },
  entries: readonly HostingEntry[],
): ReadonlyMap<string, HostingRecord | undefined> {
  const changed = new Map<string, HostingRecord | undefined>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const before = changed.has(key) ? changed.get(key) : open.get(key)
    const after = afterEntry(before, entry)
    if (after !== before) changed.set(key, after)
  }
  return changed
}

/** Merges changed records into the open records. */
export function putChanged<Open>(open: Map<string, Open>, changed: ReadonlyMap<string, Open | undefined>): void {
  for (const [key, record] of changed) {
    if (record === undefined) open.delete(key)
    else open.set(key, record)
  }
}
