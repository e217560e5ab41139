import type { Store, StoreChange } from './store.js'
import type { StoreRecord } from './store-format.js'
import {
  afterEntry,
  applyEntry,
  changeOf,
  hasAllOf,
  type JournalEntry,
  type OpenIntent,
  recordOf,
  SERVER,
} from './server-entries.js'

/**
 * Remembers which deployments may exist. A journal must keep entries in the order in which `append` was called. A
 * create is sent once the `append` of its `sent` has resolved, so a journal on a disk must resolve only when the entry
 * is safe.
 */
export interface Journal {
  /**
   * Whether a later process has the tickets too, and goes on with matches whose server does not run yet: then entries
   * carry what it needs for that, secrets included. If false, such servers are stopped after a restart. Default:
   * whether the matchmaker has a ticket log.
   */
  readonly resumes?: boolean | undefined
  append(entry: JournalEntry): void | Promise<void>
  /**
   * Returns the matches that are not settled, oldest first. Called once before the first match, and again after a
   * failure.
   * @param problem is told what was lost, if the journal can still be used.
   */
  open(problem?: (error: Error) => void): readonly OpenIntent[] | Promise<readonly OpenIntent[]>
  /** Releases the journal's resources; called at the end of the matchmaker's `close`, after the last entry. */
  close?(): void | Promise<void>
}

/**
 * Creates a journal in memory, which ends with the process: for a matchmaker that goes on where another one of the same
 * process has ended. Of deployments that a crash left behind it knows nothing: the reaper finds these by their tag and
 * stops them `orphanGraceMs` after their start, even if players are on them. `createFileJournal` avoids that.
 */
export function createMemoryJournal(): Journal {
  const intents = new Map<string, OpenIntent>()
  return {
    append: (entry) => applyEntry(intents, entry),
    open: () => [...intents.values()],
  }
}

/** The journal of a matchmaker that is given none: it keeps nothing, since nothing would ever be read from it. */
export const NO_JOURNAL: Journal = { append: () => {}, open: () => [] }


/**
 * Keeps servers in a store, each match as one record. An entry is with the operating system when `append` returns; a
 * create leaves once its entry `sent`, and all that was appended before it, is on the disk.
 */
export function createServerLog(store: Pick<Store, 'records' | 'sync'>): Journal {
  /** The state of each open match, and the intent from which it began. */
  const open = new Map<string, { readonly intent: OpenIntent; readonly state: OpenIntent }>()
  function* live(): Generator<StoreRecord> {
    for (const { intent, state } of open.values()) yield recordOf(state, intent)
  }
  const records = store.records(SERVER, live)
  for (const { key, value, change } of records.stored()) {
    const intent = JSON.parse(value) as OpenIntent
    const state = change === undefined ? intent : { ...intent, ...(JSON.parse(change) as Partial<OpenIntent>) }
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

function changeTo(key: string, intent: OpenIntent | undefined, state: OpenIntent | undefined): StoreChange {
  if (intent === undefined || state === undefined) return { key }
  return intent === state ? { key, value: JSON.stringify(state) } : { key, change: changeOf(intent, state) }
}
