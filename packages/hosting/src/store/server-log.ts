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

/** The first and the current state of a server or match. */
interface LoggedRecord {
  readonly intent: HostingRecord
  readonly state: HostingRecord
}

/** Returns the change of a server or match since its first state: the fields that differ. */
const changeOf = ({ intent, state }: LoggedRecord): string => {
  const began = new Map<string, unknown>(Object.entries(intent))
  return JSON.stringify(Object.fromEntries(Object.entries(state).filter(([name, value]) => value !== began.get(name))))
}

/** True if the state has all fields of the first one, so that a change can express the rest. */
const hasAllOf = (intent: HostingRecord, state: HostingRecord): boolean =>
  Object.keys(intent).every((name) => name in state)

const idOf = (key: string) => key.slice(2)
const kindOf = (key: string) => (key.startsWith('m:') ? MATCH : SERVER)

/** Returns the stored record of a server or match. */
const storedAs = (key: string, kept: LoggedRecord): StoreRecord => ({
  key: idOf(key),
  value: JSON.stringify(kept.intent),
  change: kept.intent === kept.state ? undefined : changeOf(kept),
})

/**
 * Records which deployments may exist and which matches are on them: in a store (`createServerLog`), or in Redis next
 * to the tickets. Entries are kept in the order of the `append` calls. The entries of one call are atomic: after any
 * crash all of them are there, or none. A create is sent once the `append` of its `sent` has resolved, so `append` may
 * resolve only when the entry is durable.
 */
export interface ServerLog {
  /**
   * True if a later process has the tickets too, and continues matches whose server does not run yet. Entries then
   * contain the data for that, including secrets. If false, such servers are stopped after a restart. Default: true if
   * the matchmaker has a store.
   */
  readonly resumes?: boolean | undefined
  append(entries: readonly HostingEntry[]): void | Promise<void>
  /**
   * Returns the servers that are not gone and the matches that are not over, oldest first. Called once before the first
   * match, and again after a failure.
   * @param problem receives an error that names the lost data, if the store can still be used.
   */
  open(problem?: (error: Error) => void): StoredFleet | Promise<StoredFleet>
  /** Releases the store's resources. Called at the end of the matchmaker's `close`, after the last entry. */
  close?(): void | Promise<void>
}

/**
 * Keeps servers in memory, without the tickets, for tests. The reaper finds deployments left behind by a crash by their
 * tag, and stops them `orphanGraceMs` after their start, even if players are on them.
 */
export function createMemoryServerLog(): ServerLog {
  const open = new Map<string, HostingRecord>()
  return {
    append: (entries) => putChanged(open, afterEntries(open, entries)),
    open: () => fleetOf(open.values()),
  }
}

const NOTHING: StoredFleet = { servers: [], matches: [] }

/** The log of a matchmaker without a store. It keeps nothing, because no later process could read it. */
export const NO_SERVER_LOG: ServerLog = { append: () => {}, open: () => NOTHING }

/**
 * Keeps each server and match as one record in a store. The operating system has the entries when `append` returns. A
 * create is sent once its entry `sent`, and everything appended before it, is on the disk.
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

  /** Returns the record to keep. A further attempt changes the first record, so that servers keep their order. */
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
