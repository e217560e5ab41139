import { InvalidInput } from '@muster/core'
import { MatchmakerClosed } from '../errors.js'

/** A record: a string of one line, and the latest change to it, if any. */
export interface StoreRecord {
  readonly key: string
  readonly value: string
  readonly change?: string | undefined
}

/** Records by kind and key. Those of each kind are in the order in which they were put. */
export type RecordsByKind = ReadonlyMap<string, ReadonlyMap<string, StoreRecord>>

/** A change of a record: its new value, its latest change, or (with neither) its end. */
export interface StoreChange {
  readonly key: string
  readonly value?: string | undefined
  readonly change?: string | undefined
}

/** A change of a record of some kind. */
export interface KindChange extends StoreChange {
  readonly kind: string
}

/** Records of one kind in the store. Each is a string of one line, e.g. JSON, with a key. */
export interface StoreRecords {
  /**
   * Returns the records found when the store was opened, in the order in which they were put. Call it once: they are
   * dropped afterwards.
   */
  stored(): readonly StoreRecord[]
  /**
   * Writes changes. The operating system has them when this returns. After a power failure, some of them may be there
   * without the others, see `Store.write`.
   * @throws {Unavailable} if they cannot be written. Then none of them is or will be in the store
   */
  write(changes: readonly StoreChange[]): void
  /** Puts a record, sets its latest change, or removes it. `flush` writes that, or a later write if that fails. */
  put(key: string, value: string): void
  change(key: string, change: string): void
  remove(key: string): void
}

/** The owner of a store, which receives its problems. */
export interface StoreOwner {
  /** The name of the matchmaker. A store of a matchmaker with another name is rejected. */
  readonly name: string
  /** Receives errors after which the store continues or retries. */
  readonly problem: (error: unknown) => void
}

/**
 * A write-ahead log of records: tickets, groups, backfills, cooldowns, pauses and servers. No end of the process,
 * however sudden, loses any of them. Created by `openStore` in a file, or by `createMemoryStore`, for one owner. It
 * contains players' addresses.
 */
export interface Store {
  /** True if the last write failed. While it is true, the matchmaker accepts no tickets. The store retries. */
  isFailing(): boolean
  /**
   * Assigns the store to a matchmaker.
   * @throws {InvalidInput} if it already has an owner, or contains the records of a matchmaker of another name
   */
  attach(owner: StoreOwner): void
  /**
   * Registers a kind of records: a name of letters from a to z and -.
   * @param live returns the present records. They are read, in slices, whenever compaction rewrites the file.
   */
  records(kind: string, live: () => Iterable<StoreRecord>): StoreRecords
  /**
   * Writes changes of records of several kinds atomically. The operating system has them when this returns: after any
   * crash all of them are there, or none.
   * @throws {Unavailable} if they cannot be written. Then none of them is or will be in the store
   */
  write(changes: readonly KindChange[]): void
  /**
   * Writes the pending puts, changes and removals. A failed write is kept and retried, see `isFailing`. Without a call
   * they are written at the end of the current turn of the event loop.
   */
  flush(): void
  /**
   * Resolves once everything written so far survives a power failure, if `fsync` of `StoreOptions` requires that.
   * Concurrent calls share one fdatasync. Returns undefined if there is nothing to wait for.
   * @throws {StoreLocked} if another process now owns the file
   */
  sync(): Promise<void> | undefined
  /**
   * Does what is due: retries writes, forces them onto the disk (fdatasync), compacts a file that has grown. Never
   * rejects.
   */
  advance(): Promise<void>
  /** True if `close` was called. Nothing can be written any more. */
  isClosed(): boolean
  /** Writes all pending entries, and releases the file for other processes. */
  close(): Promise<void>
}

/** The kind of the only record that contains the name of the store's owner. */
export const NAME = 'name'

/** @throws {InvalidInput} */
export function refuseOtherOwner(stored: RecordsByKind, name: string, before: StoreOwner | undefined): void {
  const refuse = (message: string) => new InvalidInput(`option store: ${message}`, { field: 'store' })
  if (before !== undefined) throw refuse('is already used by another matchmaker. Open a store for each matchmaker.')
  const [named = name] = stored.get(NAME)?.keys() ?? []
  if (named === name) return
  throw refuse(`belongs to matchmaker ${JSON.stringify(named)}, not ${JSON.stringify(name)}. Use another folder.`)
}

/** @throws {Error} */
export function checkKind(kind: string): void {
  if (!/^[a-z]+(-[a-z]+)*$/.test(kind))
    throw new Error(`kind: must be lower-case words joined by hyphens, got ${JSON.stringify(kind)}`)
}

/** The content of a store in memory. A store created from it continues from there. */
export type StoreMemory = Map<string, Map<string, StoreRecord>>

/**
 * Creates a store in memory, for tests, and for a matchmaker that continues where another one of the same process
 * ended.
 * @example
 * const memory: StoreMemory = new Map()
 * const first = createMatchmaker({ ...options, store: createMemoryStore(memory) })
 * await first.close()
 * const second = createMatchmaker({ ...options, store: createMemoryStore(memory) })
 */
export function createMemoryStore(memory: StoreMemory = new Map()): Store {
  let owner: StoreOwner | undefined
  let isClosed = false
  const ofKind = (kind: string) => {
    const records = memory.get(kind) ?? new Map<string, StoreRecord>()
    memory.set(kind, records)
    return records
  }

  const apply = (records: Map<string, StoreRecord>, { key, value, change }: StoreChange) => {
    if (isClosed) return
    const before = value === undefined ? records.get(key) : { key, value }
    if (value !== undefined || change === undefined) records.delete(key)
    if (before !== undefined && (value ?? change) !== undefined)
      records.set(key, change === undefined ? before : { ...before, change })
  }
  const assertOpen = () => {
    if (isClosed) throw new MatchmakerClosed('The store is closed.')
  }

  return {
    isFailing: () => false,
    attach: (given) => {
      refuseOtherOwner(memory, given.name, owner)
      owner = given
      ofKind(NAME).set(given.name, { key: given.name, value: '{}' })
    },
    records: (kind) => {
      checkKind(kind)
      const records = ofKind(kind)
      let stored: readonly StoreRecord[] = [...records.values()]
      return {
        stored: () => {
          const all = stored
          stored = []
          return all
        },
        write: (changes) => {
          assertOpen()
          for (const one of changes) apply(records, one)
        },
        put: (key, value) => apply(records, { key, value }),
        change: (key, change) => apply(records, { key, change }),
        remove: (key) => apply(records, { key }),
      }
    },
    write: (changes) => {
      assertOpen()
      for (const { kind, ...change } of changes) apply(ofKind(kind), change)
    },
    flush: () => {},
    sync: () => undefined,
    advance: () => Promise.resolve(),
    isClosed: () => isClosed,
    close: () => {
      isClosed = true
      return Promise.resolve()
    },
  }
}
