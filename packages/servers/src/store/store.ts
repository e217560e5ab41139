import type { StoreRecord } from './store-format.js'

/** A change of a record: its new text, its latest change, or (with neither) its end. */
export interface StoreChange {
  readonly key: string
  readonly value?: string | undefined
  readonly change?: string | undefined
}

/** Records of one kind, in the store. Each is a text of one line, under a key: JSON is. */
export interface StoreRecords {
  /** What was in the store when it was opened, in the order in which it was put. Call it once: it is forgotten then. */
  stored(): readonly StoreRecord[]
  /**
   * Writes changes, which are with the operating system when this returns.
   * @throws {Unavailable} if they cannot be written: then none of them is in the store, or will be
   */
  write(changes: readonly StoreChange[]): void
  /** Puts a record, removes one, or sets its latest change. That is written by `flush`, or later if that fails. */
  put(key: string, value: string): void
  change(key: string, change: string): void
  remove(key: string): void
}

/** What the store asks and tells its owner. */
export interface StoreOwner {
  /** The name of the matchmaker: a store of another one is refused. Undefined: the store has no name. */
  readonly name: string | undefined
  /** Told of what went wrong, which the store goes on from or tries again. */
  readonly problem: (error: unknown) => void
}

/**
 * A write-ahead log of records: what waits, and which servers may run, so that a process that ends, however it ends,
 * loses none of them. Made by `openStore`, for one owner. It holds players' addresses.
 */
export interface Store {
  readonly path: string
  /** Whether it could not be written to when that was last tried: then no ticket is taken. It is tried again. */
  isFailing(): boolean
  /**
   * Begins to be a matchmaker's.
   * @throws {InvalidInput} if it is one's already, or that of a matchmaker of another name
   */
  attach(owner: StoreOwner): void
  /**
   * Begins to keep records of a kind: a name of letters from a to z and -.
   * @param live the records as they are now: asked, in slices, whenever the file is rewritten.
   */
  records(kind: string, live: () => Iterable<StoreRecord>): StoreRecords
  /**
   * Writes what was put, changed and removed. What cannot be written is kept, and tried again: see `isFailing`. Without
   * a call it is written at the end of the present turn of the event loop.
   */
  flush(): void
  /** Does what is due: tries again, forces onto the disk, rewrites a file that has grown. Never rejects. */
  advance(): Promise<void>
  /** Whether `close` was called: nothing can be written any more. */
  isClosed(): boolean
  /** Writes what is left, and releases the file for other processes. */
  close(): Promise<void>
}
