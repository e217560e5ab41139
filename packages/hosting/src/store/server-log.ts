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

/** A server or match as it began, and as it is. */
interface Kept {
  readonly intent: HostingRecord
  readonly state: HostingRecord
}

/** What has become of a server or match since its beginning: the fields that differ. */
const changeOf = ({ intent, state }: Kept): string => {
  const began = new Map<string, unknown>(Object.entries(intent))
  return JSON.stringify(Object.fromEntries(Object.entries(state).filter(([name, value]) => value !== began.get(name))))
}

/** Whether nothing of the beginning is missing in the state, so that a change can tell the rest. */
const hasAllOf = (intent: HostingRecord, state: HostingRecord): boolean =>
  Object.keys(intent).every((name) => name in state)

const idOf = (key: string) => key.slice(2)
const kindOf = (key: string) => (key.startsWith('m:') ? MATCH : SERVER)

/** A server or match as its record in a store. */
const storedAs = (key: string, kept: Kept): StoreRecord => ({
  key: idOf(key),
  value: JSON.stringify(kept.intent),
  change: kept.intent === kept.state ? undefined : changeOf(kept),
})

/**
 * Remembers which deployments may exist, and which matches are on them: in a store (`createServerLog`), or in Redis
 * beside the tickets. Entries are kept in the order in which `append` was called, those of one call as one: after any
 * crash all of them are there, or none. A create is sent once the `append` of its `sent` has resolved, so it resolves
 * only when the entry is safe.
 */
export interface ServerLog {
  /**
   * Whether a later process has the tickets too, and continues matches whose server does not run yet. Entries then
   * carry what that needs, secrets included. If false, such servers are stopped after a restart. Default: whether the
   * matchmaker has a store.
   */
  readonly resumes?: boolean | undefined
  append(entries: readonly HostingEntry[]): void | Promise<void>
  /**
   * Returns the servers that are not gone and the matches that are not over, oldest first. Called once before the first
   * match, and again after a failure.
   * @param problem receives an error that names what was lost, if the store can still be used.
   */
  open(problem?: (error: Error) => void): StoredFleet | Promise<StoredFleet>
  /** Releases the store's resources; called at the end of the matchmaker's `close`, after the last entry. */
  close?(): void | Promise<void>
}

/**
 * Keeps servers in memory, without the tickets, for tests. The reaper finds deployments that a crash left behind by
 * their tag, and stops them `orphanGraceMs` after their start, even if players are on them.
 */
export function createMemoryServerLog(): ServerLog {
  const open = new Map<string, HostingRecord>()
  return {
    append: (entries) => putChanged(open, afterEntries(open, entries)),
    open: () => fleetOf(open.values()),
  }
}

const NOTHING: StoredFleet = { servers: [], matches: [] }

/** That of a matchmaker without a store: it keeps nothing, since nothing would ever be read from it. */
export const NO_SERVER_LOG: ServerLog = { append: () => {}, open: () => NOTHING }

/**
 * Keeps servers and matches in a store, each as one record. Entries are with the operating system when `append`
 * returns; a create leaves once its entry `sent`, and all that was appended before it, is on the disk.
 */
export function createServerLog(store: Pick<Store, 'records' | 'write' | 'sync'>): ServerLog {
  const open = new Map<string, Kept>()
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

  /** A further attempt changes the record of the first, so that servers stay in their order. */
  const keptAs = (key: string, state: HostingRecord): Kept => {
    const before = open.get(key)
    return { intent: before !== undefined && hasAllOf(before.intent, state) ? before.intent : state, state }
  }
  const lineOf = (key: string, kept: Kept | undefined): KindChange => {
    const at = { kind: kindOf(key), key: idOf(key) }
    if (kept === undefined) return at
    return kept.intent === kept.state ? { ...at, value: JSON.stringify(kept.state) } : { ...at, change: changeOf(kept) }
  }

  return {
    resumes: true,
    append: (entries) => {
      const changed = new Map<string, Kept | undefined>()
      for (const [key, state] of afterEntries(states, entries)) changed.set(key, state && keptAs(key, state))
      if (changed.size === 0) return undefined
      store.write(Array.from(changed, ([key, kept]) => lineOf(key, kept)))
      putChanged(open, changed)
      return entries.some(({ kind }) => kind === 'sent') ? store.sync() : undefined
    },
    open: () => fleetOf(Array.from(open.values(), ({ state }) => state)),
  }
}
