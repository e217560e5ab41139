import type { LogRecord } from './log-lines.js'

/** Records of one kind, in the log. Each is a text of one line, under a key: JSON is. */
export interface LogRecords {
  /** What was in the log when it was opened, in the order in which it was put. Call it once: it is forgotten then. */
  stored(): readonly LogRecord[]
  /**
   * Puts records, which are with the operating system when this returns.
   * @throws {Unavailable} if they cannot be written: then none of them is in the log, or will be
   */
  write(records: readonly LogRecord[]): void
  /** Puts a record, removes one, or sets its latest change. That is written by `flush`, or later if that fails. */
  put(key: string, value: string): void
  change(key: string, change: string): void
  remove(key: string): void
}

/** What the log asks and tells the matchmaker that it is of. */
export interface LogOwner {
  /** The name of the matchmaker: a log of another one is refused. */
  readonly name: string
  /** Told of what went wrong, which the log goes on from or tries again. */
  readonly problem: (error: unknown) => void
}

/**
 * An append-only log of what waits: tickets, backfills and groups, so that a process that ends, however it ends, loses
 * none of them. Made by `openTicketLog`, for one matchmaker. It holds players' addresses.
 */
export interface TicketLog {
  readonly path: string
  /** Whether it could not be written to when that was last tried: then no ticket is taken. It is tried again. */
  isFailing(): boolean
  /**
   * Begins to be a matchmaker's.
   * @throws {InvalidInput} if it is one's already, or that of a matchmaker of another name
   */
  attach(owner: LogOwner): void
  /**
   * Begins to keep records of a kind: a name of letters from a to z and -.
   * @param live the records as they are now: asked, in slices, whenever the file is rewritten.
   */
  records(kind: string, live: () => Iterable<LogRecord>): LogRecords
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
