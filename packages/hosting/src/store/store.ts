import { InvalidInput } from '@muster/core'
import { MatchmakerClosed } from '../errors.js'
import { matchmakerTag } from '../records/index.js'

/** A stored record: a string without newlines and, if it was changed, its latest change. */
export interface StoreRecord {
  readonly key: string
  readonly value: string
  readonly change?: string | undefined
}

/** Records by kind and key. The records of a kind are in the order in which they were put. */
export type RecordsByKind = ReadonlyMap<string, ReadonlyMap<string, StoreRecord>>

/** A change of a record: its new value, its latest change or, with neither, its removal. */
export interface StoreChange {
  readonly key: string
  readonly value?: string | undefined
  readonly change?: string | undefined
}

/** A change of a record, and the kind of the record. */
export interface KindChange extends StoreChange {
  readonly kind: string
}

/** The records of one kind in a store. Values are strings without newlines, e.g. JSON. */
export interface StoreRecords {
  /** Returns the records that the store had when it was opened, in the order of the puts. Call it once. */
  stored(): readonly StoreRecord[]
  /**
   * Writes changes. The operating system has them when this returns. A power failure may lose only some of them,
   * unlike with `Store.write`.
   * @throws {Unavailable} if nothing was written
   */
  write(changes: readonly StoreChange[]): void
  /** Records a new value. `flush` writes it. If that fails, the write is repeated. */
  put(key: string, value: string): void
  change(key: string, change: string): void
  remove(key: string): void
}

/** The matchmaker that uses a store. */
export interface StoreOwner {
  /** Name of the matchmaker. A store that contains another matchmaker's name is rejected. */
  readonly name: string
  /** Called with errors that the store survives. */
  readonly problem: (error: unknown) => void
}

/**
 * A write-ahead log of records: tickets, groups, backfills, cooldowns, pauses, servers and matches. A crash of the
 * process loses none of them. The records contain players' addresses. `openStore` creates a store in a file, and
 * `createMemoryStore` one in memory. A store is for one matchmaker.
 */
export interface Store {
  /** True if the last write failed. Meanwhile the matchmaker accepts no tickets, and the store repeats the write. */
  isFailing(): boolean
  /**
   * Assigns the store to a matchmaker.
   * @throws {InvalidInput} if another matchmaker uses it, or if it contains another matchmaker's name
   */
  attach(owner: StoreOwner): void
  /**
   * Registers a kind of records. Its name has letters from a to z and hyphens.
   * @param live returns the current records. They are read, in parts, when the file is rewritten
   */
  records(kind: string, live: () => Iterable<StoreRecord>): StoreRecords
  /**
   * Writes changes of several kinds together: after a crash, all or none are there. The operating system has them when
   * this returns.
   * @throws {Unavailable} if nothing was written
   */
  write(changes: readonly KindChange[]): void
  /**
   * Writes all recorded changes. If that fails, the write is repeated, see `isFailing`. Without a call, they are
   * written at the end of this turn of the event loop.
   */
  flush(): void
  /**
   * Resolves once everything written so far survives a power failure, as far as `fsync` of `StoreOptions` requires
   * that. Returns undefined if there is nothing to wait for.
   * @throws {StoreLocked} if another process now uses the file
   */
  sync(): Promise<void> | undefined
  /**
   * Does all work that is due: repeats failed writes, syncs the file, and rewrites it if it has grown. Never rejects.
   */
  advance(): Promise<void>
  /** True if the store is closed, so that nothing can be written. */
  isClosed(): boolean
  /** Writes all recorded changes, and lets other processes open the store. */
  close(): Promise<void>
}

/** The kind of the record whose key is the name of the store's owner. */
export const NAME = 'name'

/** Rejects a store of another matchmaker. @throws {InvalidInput} */
export function refuseOtherOwner(stored: RecordsByKind, name: string, before: StoreOwner | undefined): void {
  const refuse = (message: string) => new InvalidInput(`option store: ${message}`, { field: 'store' })
  if (before !== undefined) throw refuse('is already used by another matchmaker. Open a store for each matchmaker.')
  const [named = name] = stored.get(NAME)?.keys() ?? []
  if (named === name) return
  throw refuse(
    `belongs to matchmaker ${JSON.stringify(named)}, not ${JSON.stringify(name)}. Use another folder. ` +
      `If the name was changed, first run with the former name until all servers have ended, because nothing else ` +
      `stops servers with the tag ${matchmakerTag(named)}.`,
  )
}

/** Checks the name of a kind. @throws {Error} */
export function checkKind(kind: string): void {
  if (!/^[a-z]+(-[a-z]+)*$/.test(kind))
    throw new Error(`kind: must be lower-case words joined by hyphens, got ${JSON.stringify(kind)}`)
}

/** The content of a store in memory. Another store can continue with it. */
export type StoreMemory = Map<string, Map<string, StoreRecord>>

/**
 * Creates a store in memory: for tests, and for a matchmaker that continues after another one of the same process.
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
