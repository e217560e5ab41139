/**
 * Converts records of servers and matches that earlier versions have stored. In version 3 of the file, and in version
 * 1 of Redis, a record was a server of a pool, a match on such a server, or a match with its own server. Journals of
 * version 2 had entries about matches with their own servers. No I/O.
 */
import type { Assignment, PlayerWhoLeft, MatchResumption, ServerResumption } from '../records/index.js'
import { MATCH, type MatchRecord, SERVER, type ServerRecord } from './entries.js'
import type { RecordsByKind, StoreRecord } from './store.js'

export interface RecordOf3 extends Omit<ServerRecord, 'serverId' | 'isUp' | 'bornFor' | 'resumption'> {
  readonly matchId: string
  readonly ticketIds: readonly string[]
  readonly playerIds?: readonly string[] | undefined
  readonly assigned: boolean
  readonly resumption?: (MatchResumption & ServerResumption) | undefined
  readonly hostId?: string | undefined
  readonly left?: readonly PlayerWhoLeft[] | undefined
}

/** The records into which a record of version 3 is split. */
export interface Split {
  readonly server?: ServerRecord | undefined
  readonly match?: MatchRecord | undefined
}

/** True for a match without its own server: it is on a server of a pool, or no server was requested for it yet. */
const isGuest = ({ hostId, sentAt, requestId, resumption }: RecordOf3): boolean =>
  hostId !== undefined || (sentAt === undefined && requestId === undefined && resumption?.tries.length === 0)

/** Splits a record of version 3 into the record of a server, the record of a match, or both. */
export function splitRecordOf3(record: RecordOf3): Split {
  const isOfPool = record.pool !== undefined
  const match = isOfPool || record.dropped === true ? undefined : matchOf(record)
  return isGuest(record) && !isOfPool ? { match } : { server: serverOf(record), match }
}

function serverOf(record: RecordOf3): ServerRecord {
  const { matchId: serverId, assigned: isUp, pool, resumption } = record
  const { ticketIds: _, playerIds: __, hostId: ___, left: ____, ...rest } = record
  const { matchId: _____, assigned: ______, resumption: _______, ...kept } = rest
  return {
    ...kept,
    serverId,
    isUp,
    ...(pool === undefined && { bornFor: serverId }),
    // For an enrolled server, version 3 did not store the handle before a second entry. The handle is the server's id.
    ...(record.enrolled !== undefined && { requestId: serverId }),
    ...(resumption !== undefined && {
      resumption: { tries: resumption.tries, placements: resumption.placements, near: resumption.near },
    }),
  }
}

function matchOf(record: RecordOf3): MatchRecord {
  const { matchId, queue, ticketIds, playerIds = [], at, hostId, assigned, left, resumption } = record
  const serverId = isGuest(record) ? hostId : matchId
  return {
    matchId,
    queue,
    ticketIds,
    playerIds,
    at,
    ...(serverId !== undefined && { serverId }),
    ...(assigned && { playingSince: at }),
    ...(left !== undefined && { left }),
    ...(resumption !== undefined && {
      resumption: { expansionMs: resumption.expansionMs, teams: resumption.teams, teamOf: resumption.teamOf },
    }),
  }
}

/** Returns all records, after splitting those of version 3 into records of servers and of matches. */
export function withRecordsOf3(records: RecordsByKind): RecordsByKind {
  const servers = new Map<string, StoreRecord>()
  const matches = new Map<string, StoreRecord>()
  for (const [key, { value, change }] of records.get(SERVER) ?? []) {
    const { server, match } = splitRecordOf3({
      ...(JSON.parse(value) as RecordOf3),
      ...(change !== undefined && (JSON.parse(change) as Partial<RecordOf3>)),
    })
    if (server !== undefined) servers.set(key, { key, value: JSON.stringify(server) })
    if (match !== undefined) matches.set(key, { key, value: JSON.stringify(match) })
  }
  return new Map([...records, [SERVER, servers], [MATCH, matches]])
}

export type EntryOf2 =
  | ({ readonly kind: 'intent' } & Omit<RecordOf3, 'assigned'>)
  | { readonly kind: 'sent' | 'lost'; readonly matchId: string; readonly at: number }
  | { readonly kind: 'created'; readonly matchId: string; readonly requestId: string }
  | {
      readonly kind: 'assigned'
      readonly matchId: string
      readonly lastsMs?: number | undefined
      readonly assignment?: Assignment | undefined
    }
  | { readonly kind: 'players'; readonly matchId: string; readonly playerIds: readonly string[] }
  | { readonly kind: 'dropped' | 'settled'; readonly matchId: string }

/** Applies an entry of a journal of version 2. An entry about an unknown match changes nothing. */
export function applyEntryOf2(open: Map<string, RecordOf3>, entry: EntryOf2): void {
  const { matchId } = entry
  const after = afterEntryOf2(open.get(matchId), entry)
  if (after === undefined) open.delete(matchId)
  else open.set(matchId, after)
}

function afterEntryOf2(before: RecordOf3 | undefined, entry: EntryOf2): RecordOf3 | undefined {
  if (entry.kind === 'intent') {
    const { kind: _, ...intent } = entry
    return { ...intent, assigned: false }
  }
  if (before === undefined) return undefined
  switch (entry.kind) {
    case 'sent':
      return { ...before, sentAt: entry.at }
    case 'lost':
      return { ...before, lostAt: entry.at }
    case 'created':
      return { ...before, requestId: entry.requestId }
    case 'assigned':
      if (before.dropped === true) return before
      return { ...before, assigned: true, lastsMs: entry.lastsMs, assignment: entry.assignment }
    case 'dropped':
      return { ...before, assigned: false, lastsMs: undefined, assignment: undefined, dropped: true }
    case 'players':
      return { ...before, playerIds: entry.playerIds }
    case 'settled':
      return undefined
  }
}
