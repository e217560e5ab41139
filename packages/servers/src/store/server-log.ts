import type { Store, StoreChange } from './store.js'
import type { StoreRecord } from './store-format.js'
import {
  afterEntry,
  applyEntry,
  changeOf,
  hasAllOf,
  type ServerEntry,
  type ServerRecord,
  recordOf,
  SERVER,
} from './server-entries.js'

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
