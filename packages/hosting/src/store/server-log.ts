import {
  afterEntries,
  fleetOf,
  type HostingEntry,
  type HostingRecord,
  MATCH,
  putChanged,
  SERVER,
  type StoredFleet,
} from './entries.js'
import type { KindChange, Store, StoreRecord } from './store.js'

/** The first stored state of a server or match, and its current state. */
interface LoggedRecord {
  readonly intent: HostingRecord
  readonly state: HostingRecord
}

/** Returns the fields of the current state that differ from the first one, as JSON. */
const changeOf = ({ intent, state }: LoggedRecord): string => {
  const began = new Map<string, unknown>(Object.entries(intent))
  return JSON.stringify(Object.fromEntries(Object.entries(state).filter(([name, value]) => value !== began.get(name))))
}

/** True if the current state has all fields of the first one, because a change cannot remove fields. */
const hasAllOf = (intent: HostingRecord, state: HostingRecord): boolean =>
  Object.keys(intent).every((name) => name in state)

const idOf = (key: string) => key.slice(2)
const kindOf = (key: string) => (key.startsWith('m:') ? MATCH : SERVER)

/** Returns the record of a server or match for the store. */
const storedAs = (key: string, kept: LoggedRecord): StoreRecord => ({
  key: idOf(key),
  value: JSON.stringify(kept.intent),
  change: kept.intent === kept.state ? undefined : changeOf(kept),
})

/**
 * Stores which servers may exist and which matches are on them: in a store (`createServerLog`), or in Redis next to
 * the tickets. Entries are stored in the order of the calls. The entries of one call are stored together: after a
 * crash, all or none are there. A create is sent once its entry `sent` is stored, so `append` may resolve only when an
 * entry is durable.
 */
export interface ServerLog {
  /**
   * True if the tickets are stored too, so that a restarted process continues matches whose server does not run yet.
   * Entries then contain the data for that, including secrets. If false, such servers are stopped after a restart.
   * Default: true with a store.
   */
  readonly resumes?: boolean | undefined
  append(entries: readonly HostingEntry[]): void | Promise<void>
  /**
   * Returns the stored servers and matches, oldest first. Called once, and again after an error.
   * @param problem called with an error about lost data, if the rest can be used
   */
  open(problem?: (error: Error) => void): StoredFleet | Promise<StoredFleet>
  /** Closes the store. Called at the end of the matchmaker's `close`, after the last entry. */
  close?(): void | Promise<void>
}

/**
 * Creates a log in memory, for tests. It has no tickets, so after a restart all deployments are orphans: they are
 * stopped `orphanGraceMs` after their start, even with players on them.
 */
export function createMemoryServerLog(): ServerLog {
  const open = new Map<string, HostingRecord>()
  return {
    append: (entries) => putChanged(open, afterEntries(open, entries)),
    open: () => fleetOf(open.values()),
  }
}

const NOTHING: StoredFleet = { servers: [], matches: [] }

/** The log of a matchmaker without a store. It stores nothing. */
export const NO_SERVER_LOG: ServerLog = { append: () => {}, open: () => NOTHING }

/**
 * Creates a log in a store, with one record for each server and match. The operating system has the entries when
 * `append` returns. For an entry `sent`, the promise resolves once everything so far is on the disk.
 */
export function createServerLog(store: Pick<Store, 'records' | 'write' | 'sync'>): ServerLog {
  const open = new Map<string, LoggedRecord>()
  const states = { get: (key: string) => open.get(key)?.state }
  for (const [prefix, kind] of [
    ['s:', SERVER],
    ['m:', MATCH],
  ] as const) {
    function* live(): Generator<StoreRecord> {
      for (const [key, kept] of open) if (key.startsWith(prefix)) yield storedAs(key, kept)
    }
    for (const { key, value, change } of store.records(kind, live).stored()) {
      const intent = JSON.parse(value) as HostingRecord
      const state = change === undefined ? intent : ({ ...intent, ...JSON.parse(change) } as HostingRecord)
      open.set(prefix + key, { intent, state })
    }
  }

  /** Returns the new state of a record. Its first state is kept if possible, so that records keep their order. */
  const keptAs = (key: string, state: HostingRecord): LoggedRecord => {
    const before = open.get(key)
    return { intent: before !== undefined && hasAllOf(before.intent, state) ? before.intent : state, state }
  }
  const lineOf = (key: string, kept: LoggedRecord | undefined): KindChange => {
    const at = { kind: kindOf(key), key: idOf(key) }
    if (kept === undefined) return at
    return kept.intent === kept.state ? { ...at, value: JSON.stringify(kept.state) } : { ...at, change: changeOf(kept) }
  }

  return {
    resumes: true,
    append: (entries) => {
      const changed = new Map<string, LoggedRecord | undefined>()
      for (const [key, state] of afterEntries(states, entries)) changed.set(key, state && keptAs(key, state))
      if (changed.size === 0) return undefined
      store.write(Array.from(changed, ([key, kept]) => lineOf(key, kept)))
      putChanged(open, changed)
      return entries.some(({ kind }) => kind === 'sent') ? store.sync() : undefined
    },
    open: () => fleetOf(Array.from(open.values(), ({ state }) => state)),
  }
}
