import type { Coordinates } from '@muster/core'
import type {
  Assignment,
  MatchIntent,
  MatchResumption,
  PlayerWhoLeft,
  ServerIntent,
  ServerResumption,
} from '../records/index.js'

/** A session that players had started, and that a server of a pool is to list: see `SessionWanted`. */
export interface StoredSession {
  readonly session: string
  readonly name: string
  /** Sealed: see `ServerKeys`. */
  readonly password?: string | undefined
  readonly owner?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Undefined once it was listed. */
  readonly start?: SessionStart | undefined
}

/** Players who get seats together. */
export interface SeatParty {
  readonly playerIds: readonly string[]
  /** In the order of the players. */
  readonly seatIds: readonly string[]
  readonly groupId?: string | undefined
  /** Whether it had seats on another server that turned out to be full. */
  readonly isMoved?: boolean | undefined
}

/** Who gets seats on a server once it lists the session for which it was started: those who had it started. */
export interface SessionStart extends SeatParty {
  /** Others who were promised seats on it meanwhile. */
  readonly joined?: readonly SeatParty[] | undefined
  /** Servers that have failed it. */
  readonly failures?: number | undefined
  /** Where it is wanted, in degrees. */
  readonly near?: Coordinates | undefined
  /** Epoch milliseconds by which it has to be listed. */
  readonly until: number
}

/** What happens to a server. The kinds come in this order for each server; all but the first may be missing. */
export type ServerEntry =
  /** A deployment is about to be requested. A further one is the next attempt, once the one before is gone. */
  | ({ readonly kind: 'server'; readonly resumption?: ServerResumption | undefined } & ServerIntent)
  /**
   * The create is about to leave; written before its first byte is sent. A server without this entry was never
   * requested, so there is nothing to look for after a restart. `at`: epoch milliseconds.
   */
  | {
      readonly kind: 'sent'
      readonly serverId: string
      readonly at: number
      readonly resumption?: ServerResumption | undefined
    }
  /** The answer was lost (epoch milliseconds). A deployment that no list shows long enough after that is none. */
  | { readonly kind: 'lost'; readonly serverId: string; readonly at: number }
  /** The deployment was created and has this `requestId`. */
  | { readonly kind: 'created'; readonly serverId: string; readonly requestId: string }
  /** It listens, and players may be sent to it. It is stopped `lastsMs` milliseconds after its start. */
  | {
      readonly kind: 'up'
      readonly serverId: string
      readonly lastsMs?: number | undefined
      readonly assignment?: Assignment | undefined
    }
  /** A server of a pool was given so many matches so far. */
  | { readonly kind: 'served'; readonly serverId: string; readonly matches: number }
  /** Players had a session started on a server of a pool; undefined: it is to list none any more. */
  | { readonly kind: 'wanted'; readonly serverId: string; readonly session: StoredSession | undefined }
  /** A server of a pool lists itself for players, or does no more: without a report, players may be on it. */
  | { readonly kind: 'listed'; readonly serverId: string; readonly isListed: boolean }
  /** An operator has asked that a server takes no match any more. */
  | { readonly kind: 'draining'; readonly serverId: string }
  /** The server is being stopped: no players are to be sent to it any more. */
  | { readonly kind: 'dropped'; readonly serverId: string }
  /** There is no deployment, or it is gone. The store may forget the server. */
  | { readonly kind: 'gone'; readonly serverId: string }

/** What happens to a match. The kinds come in this order for each match; all but the first may be missing. */
export type MatchEntry =
  /** It needs a server. A further one says who is in it now. */
  | ({ readonly kind: 'match'; readonly resumption?: MatchResumption | undefined } & MatchIntent)
  /** This server of a pool is to serve it, and none before; written before that is told. Undefined: none is. */
  | { readonly kind: 'claimed'; readonly matchId: string; readonly serverId: string | undefined }
  /** Its players were sent to its server (epoch milliseconds). It ends `lastsMs` milliseconds later. */
  | {
      readonly kind: 'playing'
      readonly matchId: string
      readonly at: number
      readonly lastsMs?: number | undefined
    }
  /** The players have changed; and those who left it so far, if anybody did. */
  | {
      readonly kind: 'players'
      readonly matchId: string
      readonly playerIds: readonly string[]
      readonly left?: readonly PlayerWhoLeft[] | undefined
    }
  /** It is over, or its players search again. The store may forget it. */
  | { readonly kind: 'over'; readonly matchId: string }

export type HostingEntry = ServerEntry | MatchEntry

/** A server that was not gone when the store was last written to. */
export interface ServerRecord extends ServerIntent {
  /** Epoch milliseconds at which the create was about to leave. Undefined: never sent, so no deployment exists. */
  readonly sentAt?: number | undefined
  /** Epoch milliseconds at which the answer to the create was lost, if that was noticed. */
  readonly lostAt?: number | undefined
  readonly requestId?: string | undefined
  /** Whether players were sent to it and may still be on it. */
  readonly isUp: boolean
  /** Whether it is being stopped. */
  readonly dropped?: boolean | undefined
  /** Only where the log `resumes`. */
  readonly resumption?: ServerResumption | undefined
  readonly lastsMs?: number | undefined
  readonly assignment?: Assignment | undefined
  /** Of a server of a pool: how many matches it was given. */
  readonly matchesServed?: number | undefined
  /** Of a server of a pool: the session that it is to list. */
  readonly wanted?: StoredSession | undefined
  /** Of a server of a pool: whether it lists itself for players. */
  readonly isListed?: boolean | undefined
  /** Whether an operator has asked that it takes no match any more. */
  readonly draining?: boolean | undefined
}

/** A match that was not over when the store was last written to. `serverId`: the server that serves it, or is to. */
export interface MatchRecord extends MatchIntent {
  /** Epoch milliseconds since when its players play; undefined: they were not told where. */
  readonly playingSince?: number | undefined
  readonly lastsMs?: number | undefined
  /** Who played and left before its end. */
  readonly left?: readonly PlayerWhoLeft[] | undefined
  /** Only where the log `resumes`. */
  readonly resumption?: MatchResumption | undefined
}

export type HostingRecord = ServerRecord | MatchRecord

/** All that was not over when the store was last written to, oldest first. */
export interface StoredFleet {
  readonly servers: readonly ServerRecord[]
  readonly matches: readonly MatchRecord[]
}

export const isMatch = (one: HostingEntry | HostingRecord): one is MatchEntry | MatchRecord => 'matchId' in one

/** Where its record is among those of both kinds: a match and the server that is for it alone may have one id. */
export const keyOf = (one: HostingEntry | HostingRecord): string =>
  isMatch(one) ? `m:${one.matchId}` : `s:${one.serverId}`

/** The kinds of the records of servers and of matches in a store. */
export const SERVER = 'server'
export const MATCH = 'match'

/** The records of both kinds, in their order. */
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
 * The record after an entry; undefined if there is none. Entries about what is gone or over change nothing, and a
 * server that is being stopped gets no players any more.
 */
function afterEntry(before: HostingRecord | undefined, entry: HostingEntry): HostingRecord | undefined {
  if (isMatch(entry)) return afterMatchEntry(before as MatchRecord | undefined, entry)
  return afterServerEntry(before as ServerRecord | undefined, entry)
}

function afterServerEntry(before: ServerRecord | undefined, entry: ServerEntry): ServerRecord | undefined {
  if (entry.kind === 'server') {
    const { kind: _, ...intent } = entry
    // What players and operators want of it is wanted of its next attempt, too, and its matches wait for that.
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

/** The records that entries change, by key; undefined: it is gone. */
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

/** Puts what entries have changed among the open records. */
export function putChanged<Open>(open: Map<string, Open>, changed: ReadonlyMap<string, Open | undefined>): void {
  for (const [key, record] of changed) {
    if (record === undefined) open.delete(key)
    else open.set(key, record)
  }
}
