import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { read } from '@muster/core/internal'
import { z } from 'zod'
import { openFileStore, type FileStore } from '../store/file-store.js'
import type { StoreChange, StoreRecords } from '../store/store.js'
import type { StoreRecord } from '../store/store-format.js'
import { applyEntry, type Journal, type JournalEntry, type OpenIntent } from './journal.js'
import { readVersion2 } from './journal-version-2.js'

export interface FileJournalOptions {
  /**
   * Path of the file, in an existing folder. Beside it are `<path>.lock` while the journal is open, and `<path>.new`
   * while the file is rewritten.
   */
  readonly path: string
  /**
   * Which entries are forced onto the disk before they count as written. With every choice the operating system has an
   * entry once it counts as written, so the end of the process, even by kill -9, loses nothing. The choice decides what
   * a power failure can lose:
   * - `always`: every entry is forced;
   * - `intents` (default): only the entry `sent`, before a deployment is requested, is forced. Other lost entries are
   *   recovered by the tag of the match, but a server with players may be taken for one that nobody needs;
   * - `never`: no entry is forced. A deployment that was requested just before the power failure is then found only by
   *   the reaper.
   */
  readonly fsync?: 'always' | 'intents' | 'never' | undefined
  /**
   * Smallest size in bytes at which the file is rewritten without settled matches. Above it, the file is rewritten
   * whenever it has grown to four times its size after the last rewrite. Default 1 MiB.
   */
  readonly compactAtBytes?: number | undefined
}

const schema = z.strictObject({
  path: z.string().min(1),
  fsync: z.enum(['always', 'intents', 'never']).default('intents'),
  compactAtBytes: z
    .int()
    .min(1)
    .default(2 ** 20),
})

/** A journal that is opened and closed. */
export interface FileJournal extends Journal {
  append(entry: JournalEntry): Promise<void>
  open(problem?: (error: Error) => void): Promise<readonly OpenIntent[]>
  /** Waits for pending writes, and then releases the file for other processes. */
  close(): Promise<void>
}

interface Waiting {
  readonly entry: JournalEntry
  readonly written: () => void
  readonly failed: (error: unknown) => void
}

/**
 * Growth since the last rewrite, as a factor, at which the file is rewritten. With 4, each entry is rewritten about
 * once.
 */
const GROWTH = 4
/** The kind of its records in the store. */
const SERVER = 'server'

/**
 * Creates a journal in a file: a store with one record for each open match. Opening the file again cuts off a line
 * that a crash tore and reports that as a `problem`. flock(2) admits one process at a time: `open` rejects with
 * `StoreLocked` while another process, in whatever container, has the file open, and with `StoreCorrupt` if the file is
 * damaged or is no journal. A journal of version 2 is taken over.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createFileJournal(options: FileJournalOptions): FileJournal {
  const config = read(schema, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
  const { fsync, compactAtBytes } = config
  const path = resolve(config.path)
  let open: { readonly store: FileStore; readonly records: StoreRecords } | undefined
  /** The state of each open match, and the intent from which it began. */
  const states = new Map<string, OpenIntent>()
  const intents = new Map<string, OpenIntent>()
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined

  const apply = (entry: JournalEntry): StoreChange | undefined => {
    const { matchId } = entry
    const before = states.get(matchId)
    applyEntry(states, entry)
    const state = states.get(matchId)
    if (state === before) return undefined
    if (state === undefined) {
      intents.delete(matchId)
      return { key: matchId }
    }
    const intent = intents.get(matchId)
    // A further attempt changes the record of the first, so that matches stay in their order.
    if (intent !== undefined && entriesOf(intent).every(([name]) => name in state))
      return { key: matchId, change: changeOf(intent, state) }
    intents.set(matchId, state)
    return { key: matchId, value: JSON.stringify(state) }
  }

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    if (open === undefined) throw new Error('the journal is not open')
    const { store, records } = open
    await store.look()
    const before = batch.map(({ entry: { matchId } }) => [matchId, states.get(matchId), intents.get(matchId)] as const)
    const changes = batch.flatMap(({ entry }) => apply(entry) ?? [])
    try {
      if (changes.length > 0) records.write(changes)
    } catch (error) {
      // None of them is written, so none has happened.
      for (const [matchId, state, intent] of before.toReversed()) {
        restore(states, matchId, state)
        restore(intents, matchId, intent)
      }
      throw error
    }
    const mustForce = ({ entry }: Waiting) => fsync === 'always' || (fsync === 'intents' && entry.kind === 'sent')
    if (batch.some(mustForce)) await store.force()
  }

  /** Writes all waiting entries as one batch, and repeats as long as entries are waiting. */
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await write(batch)
        for (const { written } of batch) written()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    writing = undefined
  }

  function* live(): Generator<StoreRecord> {
    for (const [key, intent] of intents) {
      const state = states.get(key) ?? intent
      yield { key, value: JSON.stringify(intent), change: state === intent ? undefined : changeOf(intent, state) }
    }
  }

  return {
    open: async (problem = () => {}) => {
      if (open !== undefined) return [...states.values()]
      const store = await openFileStore({
        path,
        what: 'journal',
        fsync: fsync === 'never' ? 'never' : 'every-second',
        compactAtBytes,
        growth: GROWTH,
        isStrict: true,
        older: (file, bytes) => readVersion2(SERVER, file, bytes),
        clock: systemClock,
      })
      store.attach({ name: undefined, problem: () => {} })
      const records = store.records(SERVER, live)
      states.clear()
      intents.clear()
      for (const { key, value, change } of records.stored()) {
        const intent = JSON.parse(value) as OpenIntent
        intents.set(key, intent)
        states.set(key, change === undefined ? intent : { ...intent, ...(JSON.parse(change) as Partial<OpenIntent>) })
      }
      // Another process that has the file open, because its lock was removed by hand, finds the file replaced.
      // On a full disk the file is used as it is, so that running servers can still be followed and stopped.
      await store.rewrite().catch(() => {})
      if (store.damage !== undefined) problem(store.damage)
      open = { store, records }
      return [...states.values()]
    },
    append: (entry) =>
      new Promise((written, failed) => {
        waiting.push({ entry, written, failed })
        writing ??= writeAll()
      }),
    close: async () => {
      await writing
      const closing = open?.store
      open = undefined
      await closing?.close()
    },
  }
}

/** What has become of a match since its intent: the fields that differ. */
const changeOf = (intent: OpenIntent, state: OpenIntent): string =>
  JSON.stringify(Object.fromEntries(entriesOf(state).filter(([name, value]) => value !== intent[name])))

const entriesOf = (state: OpenIntent) => Object.entries(state) as [keyof OpenIntent, unknown][]

function restore<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}
