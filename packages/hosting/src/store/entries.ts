import type { Coordinates } from '@muster/core'
import type {
  Assignment,
  MatchIntent,
  MatchResumption,
  PlayerWhoLeft,
  ServerIntent,
  ServerResumption,
} from '../records/index.js'

/** A session that players have requested and that a server of a pool should list, see `SessionWanted`. */
export interface StoredSession {
  readonly session: string
  readonly name: string
  /** The password, encrypted by `ServerKeys.seal`. */
  readonly password?: string | undefined
  readonly owner?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** The players who wait until the session is listed. Undefined once it was listed. */
  readonly start?: SessionStart | undefined
}

/** Players who have requested seats together. */
export interface SeatParty {
  readonly playerIds: readonly string[]
  /** Ids of the promised seats, in the order of the players. */
  readonly seatIds: readonly string[]
  readonly groupId?: string | undefined
  /** True if the party was moved here because another server was full. */
  readonly isMoved?: boolean | undefined
}

/** The players who get seats once the server lists the requested session. The first party has requested the session. */
export interface SessionStart extends SeatParty {
  /** The other parties with promised seats. */
  readonly joined?: readonly SeatParty[] | undefined
  /** Number of servers that have failed before one listed the session. */
  readonly failures?: number | undefined
  /** The requested location in degrees. */
  readonly near?: Coordinates | undefined
  /** Epoch milliseconds by which a server must list the session. */
  readonly until: number
}

/** An event of a server. The first entry of each server has the kind `server`. */
export type ServerEntry =
  /** The server is going to be created. A further entry of this kind begins the next attempt. */
  | ({ readonly kind: 'server'; readonly resumption?: ServerResumption | undefined } & ServerIntent)
  /**
   * The create is about to be sent, `at` epoch milliseconds. A server without this entry was never requested, so it
   * need not be looked for after a crash.
   */
  | {
      readonly kind: 'sent'
      readonly serverId: string
      readonly at: number
      readonly resumption?: ServerResumption | undefined
    }
  /** The response to the create was lost, `at` epoch milliseconds. */
  | { readonly kind: 'lost'; readonly serverId: string; readonly at: number }
  /** The server exists, with this handle at its source. */
  | { readonly kind: 'created'; readonly serverId: string; readonly requestId: string }
  /** The server listens, and players may be sent to it. It must be stopped `lastsMs` milliseconds after its start. */
  | {
      readonly kind: 'up'
      readonly serverId: string
      readonly lastsMs?: number | undefined
      readonly assignment?: Assignment | undefined
    }
  /** Number of matches that a server of a pool has been given so far. */
  | { readonly kind: 'served'; readonly serverId: string; readonly matches: number }
  /** The session that a server of a pool should list. Undefined: none any more. */
  | { readonly kind: 'wanted'; readonly serverId: string; readonly session: StoredSession | undefined }
  /** A server of a pool has listed or unlisted itself. A listed server may have players without a match. */
  | { readonly kind: 'listed'; readonly serverId: string; readonly isListed: boolean }
  /** An operator drains the server. */
  | { readonly kind: 'draining'; readonly serverId: string }
  /** The server must end. No more players may be sent to it. */
  | { readonly kind: 'dropped'; readonly serverId: string }
  /** The server does not exist any more. Its record is removed. */
  | { readonly kind: 'gone'; readonly serverId: string }

/** An event of a match. The first entry of each match has the kind `match`. */
export type MatchEntry =
  /** The match needs a server. A further entry replaces the whole record. */
  | ({ readonly kind: 'match'; readonly resumption?: MatchResumption | undefined } & MatchIntent)
  /** The match has claimed this server of a pool. Undefined: none any more. Written before the server learns of it. */
  | { readonly kind: 'claimed'; readonly matchId: string; readonly serverId: string | undefined }
  /**
   * The players may be sent to their server, `at` epoch milliseconds. The match must end `lastsMs` milliseconds later.
   */
  | {
      readonly kind: 'playing'
      readonly matchId: string
      readonly at: number
      readonly lastsMs?: number | undefined
    }
  /** The current players of the match, and those who have left. */
  | {
      readonly kind: 'players'
      readonly matchId: string
      readonly playerIds: readonly string[]
      readonly left?: readonly PlayerWhoLeft[] | undefined
    }
  /** The match is over, or its tickets search again. Its record is removed. */
  | { readonly kind: 'over'; readonly matchId: string }

export type HostingEntry = ServerEntry | MatchEntry

/** The stored state of a server that may exist. */
export interface ServerRecord extends ServerIntent {
  /** Epoch milliseconds at which the create was about to be sent. Undefined: never, so there is no deployment. */
  readonly sentAt?: number | undefined
  /** Epoch milliseconds at which the response to the create was lost. Undefined if that was not noticed. */
  readonly lostAt?: number | undefined
  readonly requestId?: string | undefined
  /** True if players may be on the server or may be sent to it. */
  readonly isUp: boolean
  /** True if the server must end. */
  readonly dropped?: boolean | undefined
  /** The data to create the server again. Undefined unless `ServerLog.resumes` is true. */
  readonly resumption?: ServerResumption | undefined
  readonly lastsMs?: number | undefined
  readonly assignment?: Assignment | undefined
  /** Number of matches that a server of a pool has been given. */
  readonly matchesServed?: number | undefined
  /** The session that a server of a pool should list. */
  readonly wanted?: StoredSession | undefined
  /** True if a server of a pool lists itself for players. */
  readonly isListed?: boolean | undefined
  /** True if an operator drains the server. */
  readonly draining?: boolean | undefined
}

/** The stored state of a match that is not over. `serverId`: the server that serves the match or should serve it. */
export interface MatchRecord extends MatchIntent {
  /** Epoch milliseconds since when the players may be on the server. Undefined if they were not sent yet. */
  readonly playingSince?: number | undefined
  readonly lastsMs?: number | undefined
  /** Players who left the match. */
  readonly left?: readonly PlayerWhoLeft[] | undefined
  /** The data to continue the match. Undefined unless `ServerLog.resumes` is true. */
  readonly resumption?: MatchResumption | undefined
}

export type HostingRecord = ServerRecord | MatchRecord

/** All stored servers and matches, oldest first. */
export interface StoredFleet {
  readonly servers: readonly ServerRecord[]
  readonly matches: readonly MatchRecord[]
}

const isMatch = (one: HostingEntry | HostingRecord): one is MatchEntry | MatchRecord => 'matchId' in one

/** Returns the key of a record among all servers and matches, because a match and its own server have the same id. */
export const keyOf = (one: HostingEntry | HostingRecord): string =>
  isMatch(one) ? `m:${one.matchId}` : `s:${one.serverId}`

/** The kinds of a store's records of servers and of matches. */
export const SERVER = 'server'
export const MATCH = 'match'

/** Splits records into servers and matches, in their order. */
export function fleetOf(records: Iterable<HostingRecord>): StoredFleet {
  const servers: ServerRecord[] = []
  const matches: MatchRecord[] = []
  for (const record of records) {
    if ('matchId' in record) matches.push(record)
    else servers.push(record)
  }
  return { servers, matches }
}

/** Returns a record after an entry. Undefined if it is removed. Only the first entry of a record creates it. */
function afterEntry(before: HostingRecord | undefined, entry: HostingEntry): HostingRecord | undefined {
  if (isMatch(entry)) return afterMatchEntry(before as MatchRecord | undefined, entry)
  return afterServerEntry(before as ServerRecord | undefined, entry)
}

function afterServerEntry(before: ServerRecord | undefined, entry: ServerEntry): ServerRecord | undefined {
  if (entry.kind === 'server') {
    const { kind: _, ...intent } = entry
    // What players and operators have requested also holds for the next attempt.
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

/** Returns the records that the entries change, by key. Undefined: the record is removed. */
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

/** Applies the changes of `afterEntries` to the records. */
export function putChanged<Open>(open: Map<string, Open>, changed: ReadonlyMap<string, Open | undefined>): void {
  for (const [key, record] of changed) {
    if (record === undefined) open.delete(key)
    else open.set(key, record)
  }
}
