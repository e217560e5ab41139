import type { Coordinates } from '@muster/core'
import type { Assignment, Intent, PlayerWhoLeft, Resumption } from '../records/index.js'
import type { Store, StoreChange, StoreRecord } from './store.js'

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

/** What happens to a server. The kinds come in this order for each match; all but the first may be missing. */
export type ServerEntry =
  /** A deployment is about to be requested. A further intent is the next attempt, once the one before is gone. */
  | ({ readonly kind: 'intent'; readonly resumption?: Resumption | undefined } & Intent)
  /**
   * The create is about to leave; written before its first byte is sent. An intent without this entry was never
   * requested, so there is nothing to look for after a restart. `at`: epoch milliseconds.
   */
  | {
      readonly kind: 'sent'
      readonly matchId: string
      readonly at: number
      readonly resumption?: Resumption | undefined
    }
  /** The answer was lost (epoch milliseconds). A deployment that no list shows long enough after that is none. */
  | { readonly kind: 'lost'; readonly matchId: string; readonly at: number }
  /** The deployment was created and has this `requestId`. */
  | { readonly kind: 'created'; readonly matchId: string; readonly requestId: string }
  /** Players were sent to the server. It is stopped `lastsMs` milliseconds after its start, whoever is on it. */
  | {
      readonly kind: 'assigned'
      readonly matchId: string
      readonly lastsMs?: number | undefined
      readonly assignment?: Assignment | undefined
    }
  /** The server of a pool with this `hostId` is to serve the match, and none before; written before it is told. */
  | { readonly kind: 'claimed'; readonly matchId: string; readonly hostId: string }
  /** A server of a pool was given so many matches so far. */
  | { readonly kind: 'served'; readonly matchId: string; readonly matches: number }
  /** Players had a session started on a server of a pool; undefined: it is to list none any more. */
  | { readonly kind: 'wanted'; readonly matchId: string; readonly session: StoredSession | undefined }
  /** A server of a pool lists itself for players, or does no more: without a report, players may be on it. */
  | { readonly kind: 'listed'; readonly matchId: string; readonly isListed: boolean }
  /** An operator has asked that a server takes no match any more. */
  | { readonly kind: 'draining'; readonly matchId: string }
  /** The server is being stopped: no players are to be sent to it any more. */
  | { readonly kind: 'dropped'; readonly matchId: string }
  /** The players on the server have changed; and those who left it so far, if anybody did. */
  | {
      readonly kind: 'players'
      readonly matchId: string
      readonly playerIds: readonly string[]
      readonly left?: readonly PlayerWhoLeft[] | undefined
    }
  /** The match has no deployment, or no longer has one. The store may forget the match. */
  | { readonly kind: 'settled'; readonly matchId: string }

/** A match that was not settled when the store was last written to. */
export interface ServerRecord extends Intent {
  /** Epoch milliseconds at which the create was about to leave. Undefined: never sent, so no deployment exists. */
  readonly sentAt?: number | undefined
  /** Epoch milliseconds at which the answer to the create was lost, if that was noticed. */
  readonly lostAt?: number | undefined
  readonly requestId?: string | undefined
  /** Whether players were sent to the server and may still be on it. */
  readonly assigned: boolean
  /** Whether the server is being stopped. */
  readonly dropped?: boolean | undefined
  /** Only where the log `resumes`. */
  readonly resumption?: Resumption | undefined
  readonly lastsMs?: number | undefined
  readonly assignment?: Assignment | undefined
  /** The server of a pool that serves the match. */
  readonly hostId?: string | undefined
  /** Of a server of a pool: how many matches it was given. */
  readonly matchesServed?: number | undefined
  /** Of a server of a pool: the session that it is to list. */
  readonly wanted?: StoredSession | undefined
  /** Of a server of a pool: whether it lists itself for players. */
  readonly isListed?: boolean | undefined
  /** Whether an operator has asked that the server takes no match any more. */
  readonly draining?: boolean | undefined
  /** Who played and left before the end of the match. */
  readonly left?: readonly PlayerWhoLeft[] | undefined
}

/**
 * The record of a match after an entry; undefined if there is none. Entries about a match that is not open change
 * nothing, and a server that is being stopped gets no players any more.
 */
export function afterEntry(before: ServerRecord | undefined, entry: ServerEntry): ServerRecord | undefined {
  if (entry.kind === 'intent') {
    const intent = intentOf(entry)
    return entry.pool === undefined || before?.wanted === undefined ? intent : { ...intent, wanted: before.wanted }
  }
  if (before === undefined) return undefined
  switch (entry.kind) {
    case 'sent':
      return { ...before, sentAt: entry.at, ...(entry.resumption && { resumption: entry.resumption }) }
    case 'lost':
      return { ...before, lostAt: entry.at }
    case 'created':
      return { ...before, requestId: entry.requestId }
    case 'assigned': {
      const { lastsMs, assignment } = entry
      return before.dropped === true ? before : { ...before, assigned: true, lastsMs, assignment }
    }
    case 'dropped': {
      const { lastsMs: _, assignment: __, ...rest } = before
      return { ...rest, assigned: false, dropped: true }
    }
    case 'claimed':
      return { ...before, hostId: entry.hostId }
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
    case 'players':
      return { ...before, playerIds: entry.playerIds, ...(entry.left !== undefined && { left: entry.left }) }
    case 'settled':
      return undefined
  }
}

/** Applies an entry to the open matches. */
export function applyEntry(open: Map<string, ServerRecord>, entry: ServerEntry): void {
  const { matchId } = entry
  const after = afterEntry(open.get(matchId), entry)
  if (after === undefined) open.delete(matchId)
  else open.set(matchId, after)
}

/** The kind of the records of servers in a store. */
export const SERVER = 'server'

/** A match as its record: the intent that it began with, and as its change what differs since. */
export const recordOf = (state: ServerRecord, intent: ServerRecord = intentOf(state)) => ({
  key: state.matchId,
  value: JSON.stringify(intent),
  change: state === intent ? undefined : changeOf(intent, state),
})

/** What is known of a match from the beginning. Fields are copied one by one, for speed: this runs for every match. */
function intentOf(from: Intent & Pick<ServerRecord, 'resumption'>): ServerRecord {
  const { matchId, queue, tag, ticketIds, playerIds, at, pool, build, source, enrolled, resumption } = from
  const plain = { matchId, queue, tag, ticketIds, playerIds, at, assigned: false }
  const ofPool = pool === undefined ? plain : { ...plain, pool, build }
  const ofSource = source === undefined ? ofPool : { ...ofPool, source }
  const intent = enrolled === undefined ? ofSource : { ...ofSource, enrolled }
  return resumption === undefined ? intent : { ...intent, resumption }
}

/** What has become of a match since its intent: the fields that differ. */
const changeOf = (intent: ServerRecord, state: ServerRecord): string =>
  JSON.stringify(Object.fromEntries(entriesOf(state).filter(([name, value]) => value !== intent[name])))

/** Whether nothing of the intent is missing in the state, so that a change can tell the rest. */
const hasAllOf = (intent: ServerRecord, state: ServerRecord): boolean =>
  entriesOf(intent).every(([name]) => name in state)

const entriesOf = (state: ServerRecord) => Object.entries(state) as [keyof ServerRecord, unknown][]

/**
 * Remembers which deployments may exist: in a store (`createServerLog`), or in Redis beside the tickets. Entries are
 * kept in the order in which `append` was called. A create is sent once the `append` of its `sent` has resolved, so it
 * resolves only when the entry is safe.
 */
export interface ServerLog {
  /**
   * Whether a later process has the tickets too, and continues matches whose server does not run yet. Entries then
   * carry what that needs, secrets included. If false, such servers are stopped after a restart. Default: whether the
   * matchmaker has a store.
   */
  readonly resumes?: boolean | undefined
  append(entry: ServerEntry): void | Promise<void>
  /**
   * Returns the matches that are not settled, oldest first. Called once before the first match, and again after a
   * failure.
   * @param problem receives an error that names what was lost, if the store can still be used.
   */
  open(problem?: (error: Error) => void): readonly ServerRecord[] | Promise<readonly ServerRecord[]>
  /** Releases the store's resources; called at the end of the matchmaker's `close`, after the last entry. */
  close?(): void | Promise<void>
}

/**
 * Keeps servers in memory, without the tickets, for tests. The reaper finds deployments that a crash left behind by
 * their tag, and stops them `orphanGraceMs` after their start, even if players are on them.
 */
export function createMemoryServerLog(): ServerLog {
  const intents = new Map<string, ServerRecord>()
  return {
    append: (entry) => applyEntry(intents, entry),
    open: () => [...intents.values()],
  }
}

/** That of a matchmaker without a store: it keeps nothing, since nothing would ever be read from it. */
export const NO_SERVER_LOG: ServerLog = { append: () => {}, open: () => [] }

/**
 * Keeps servers in a store, each match as one record. An entry is with the operating system when `append` returns; a
 * create leaves once its entry `sent`, and all that was appended before it, is on the disk.
 */
export function createServerLog(store: Pick<Store, 'records' | 'sync'>): ServerLog {
  /** The state of each open match, and the intent from which it began. */
  const open = new Map<string, { readonly intent: ServerRecord; readonly state: ServerRecord }>()
  function* live(): Generator<StoreRecord> {
    for (const { intent, state } of open.values()) yield recordOf(state, intent)
  }
  const records = store.records(SERVER, live)
  for (const { key, value, change } of records.stored()) {
    const intent = JSON.parse(value) as ServerRecord
    const state = change === undefined ? intent : { ...intent, ...(JSON.parse(change) as Partial<ServerRecord>) }
    open.set(key, { intent, state })
  }

  return {
    resumes: true,
    append: (entry) => {
      const { matchId: key } = entry
      const before = open.get(key)
      const state = afterEntry(before?.state, entry)
      if (state === before?.state) return undefined
      // A further attempt changes the record of the first, so that matches stay in their order.
      const isKept = before !== undefined && state !== undefined && hasAllOf(before.intent, state)
      const intent = isKept ? before.intent : state
      records.write([changeTo(key, intent, state)])
      if (state === undefined || intent === undefined) open.delete(key)
      else open.set(key, { intent, state })
      return entry.kind === 'sent' ? store.sync() : undefined
    },
    open: () => Array.from(open.values(), ({ state }) => state),
  }
}

function changeTo(key: string, intent: ServerRecord | undefined, state: ServerRecord | undefined): StoreChange {
  if (intent === undefined || state === undefined) return { key }
  return intent === state ? { key, value: JSON.stringify(state) } : { key, change: changeOf(intent, state) }
}
