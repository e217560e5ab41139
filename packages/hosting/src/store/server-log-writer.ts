import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import { type HostingEntry, keyOf } from './entries.js'
import { NO_SERVER_LOG, type ServerLog } from './server-log.js'

const RETRY_MS = 1000
/**
 * Maximum milliseconds of the last write and the close, because a hanging disk must not delay the end of the process.
 */
const CLOSE_MS = 5000
/** The promise of a finished write. It is shared to save time. */
export const WRITTEN: Promise<void> = Promise.resolve()

interface WriteWaiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Entries that are written together, all or none. */
class Transaction {
  entries: readonly HostingEntry[]
  /** Keys of the records that the transaction changes, see `keyOf`. */
  readonly keys: ReadonlySet<string>
  /** True if the transaction is repeated after a failed write. Otherwise it is dropped. */
  readonly isKept: boolean
  /** Earlier transactions that change one of the same records, and must be written first. */
  readonly before = new Set<Transaction>()
  readonly after = new Set<Transaction>()
  /** Callers of `append` or `note` that wait for this transaction, and then callers of `written`. */
  readonly callers: WriteWaiter[] = []
  readonly waiters: WriteWaiter[] = []
  /** True if the last attempt to write the transaction failed. */
  isStuck = false

  constructor(entries: readonly HostingEntry[], isKept: boolean) {
    this.entries = entries
    this.isKept = isKept
    this.keys = new Set(entries.map(keyOf))
  }

  /** True if the transaction, or one that must be written before it, has failed. */
  isHeld(): boolean {
    for (const { isStuck } of reached(this, 'before')) if (isStuck) return true
    return false
  }
}

/** Returns a transaction and all that must be written before or after it. There may be very many while writes fail. */
function reached(one: Transaction, direction: 'before' | 'after'): ReadonlySet<Transaction> {
  const all = new Set([one])
  for (const each of all) for (const next of each[direction]) all.add(next)
  return all
}

/**
 * Writes entries to the store. The entries of one call are written together, and entries of the same server or match
 * in order. If a write fails, entries of `note` are written later, and entries of `append` are dropped.
 */
export class ServerLogWriter {
  readonly #serverLog: ServerLog
  readonly #clock: Clock
  readonly #problem: (error: unknown, id: string) => void
  /** The latest unwritten transaction of each record, by key. */
  readonly #latest = new Map<string, Transaction>()
  /** Transactions whose last attempt has failed, oldest first. */
  readonly #stuck = new Set<Transaction>()
  readonly #attempts = new Set<Promise<void>>()
  #isBehind = false
  #retryAt = 0
  /** False if there is no store. Then callers need not create entries. */
  readonly areKept: boolean
  /** True if later processes continue matches, see `ServerLog.resumes`. */
  readonly resumes: boolean

  constructor(
    serverLog: ServerLog,
    clock: Clock,
    problem: (error: unknown, id: string) => void,
    resumes = serverLog.resumes ?? false,
  ) {
    this.#serverLog = serverLog
    this.#clock = clock
    this.#problem = problem
    this.areKept = serverLog !== NO_SERVER_LOG
    this.resumes = resumes
  }

  /**
   * Writes entries before something is done: an intent, or a create about to be sent. Returns undefined if they are
   * written at once. If they, or earlier entries of the same servers and matches, cannot be written, they are dropped
   * and the promise rejects.
   */
  append(...entries: readonly HostingEntry[]): Promise<void> | undefined {
    return this.#add(entries, false)
  }

  /**
   * Writes entries about something that has already happened, and repeats that until it succeeds. Returns undefined if
   * they are written at once. Otherwise the promise resolves once they are written.
   */
  note(...entries: readonly HostingEntry[]): Promise<void> | undefined {
    return this.#add(entries, true)
  }

  /**
   * Resolves once all entries about the match and the server with this id are written. Rejects if one of them has
   * failed, which is then repeated. Returns undefined if all are written already.
   */
  written(id: string): Promise<void> | undefined {
    const ofMatch = this.#whenWritten(this.#latest.get(`m:${id}`))
    const ofServer = this.#whenWritten(this.#latest.get(`s:${id}`))
    return ofMatch === undefined || ofServer === undefined
      ? (ofMatch ?? ofServer)
      : Promise.all([ofMatch, ofServer]).then(() => {})
  }

  advance(now: number) {
    // Repeat only the oldest transaction. If it succeeds, the others follow.
    const [oldest] = this.#stuck
    if (oldest !== undefined && now >= this.#retryAt) this.#attempt(oldest)
  }

  isBehind() {
    return this.#isBehind
  }

  /** Resolves once every entry is written or has failed again. */
  async flush(): Promise<void> {
    while (this.#attempts.size > 0) await Promise.all(this.#attempts)
    this.#retry()
    while (this.#attempts.size > 0) await Promise.all(this.#attempts)
  }

  /**
   * Writes all entries and closes the store.
   * @throws the error of the store's `close`; {Error} if that takes more than 5 s
   */
  async close() {
    const closed = this.flush()
      .then(() => this.#serverLog.close?.())
      .then(() => true)
    if ((await within(closed, CLOSE_MS, this.#clock)) === true) return
    closed.catch(() => {})
    throw new Error(`the store was not written and closed within ${CLOSE_MS} ms`)
  }

  /** Passes a transaction to the store. Returns undefined if it is written at once. */
  #appended({ entries }: Transaction): Promise<void> | undefined {
    if (entries.length === 0) return undefined
    try {
      return this.#serverLog.append(entries) ?? undefined
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  #attempt(one: Transaction): void {
    one.isStuck = false
    this.#stuck.delete(one)
    this.#follow(one, this.#appended(one) ?? WRITTEN)
  }

  #follow(one: Transaction, writing: Promise<void>): void {
    const done: Promise<void> = writing.then(
      () => this.#succeeded(one),
      (error: unknown) => this.#failed(one, error),
    )
    this.#attempts.add(done)
    void done.then(() => this.#attempts.delete(done))
  }

  /** Called when a transaction is written or dropped. Begins those that have only waited for it. */
  #release(one: Transaction): void {
    for (const key of one.keys) if (this.#latest.get(key) === one) this.#latest.delete(key)
    for (const next of one.after) {
      next.before.delete(one)
      if (next.before.size === 0) this.#attempt(next)
    }
  }

  #retry(): void {
    for (const one of this.#stuck) this.#attempt(one)
  }

  #succeeded(one: Transaction): void {
    // A dropped transaction has no entries, so its success proves nothing about the store.
    const hasWritten = one.entries.length > 0
    if (hasWritten) this.#isBehind = false
    this.#release(one)
    for (const { resolve } of [...one.callers, ...one.waiters]) resolve()
    if (hasWritten) this.#retry()
  }

  #failed(one: Transaction, error: unknown): void {
    if (!one.isKept) {
      this.#release(one)
      for (const { reject } of one.callers) reject(error)
      for (const { resolve } of one.waiters) resolve()
      return
    }
    this.#isBehind = true
    this.#retryAt = this.#clock.now() + RETRY_MS
    one.isStuck = true
    this.#stuck.add(one)
    for (const other of reached(one, 'after')) this.#refuse(other, error)
    const [entry] = one.entries
    if (entry !== undefined) this.#problem(error, 'matchId' in entry ? entry.matchId : entry.serverId)
  }

  /** Called when a transaction must wait for a failed one. Rejects its callers, unless it is repeated anyway. */
  #refuse(one: Transaction, error: unknown): void {
    for (const { reject } of one.waiters.splice(0)) reject(error)
    if (one.isKept) return
    one.entries = []
    for (const { reject } of one.callers.splice(0)) reject(error)
  }

  /**
   * Replaces waiting transactions that a new one makes obsolete, e.g. those before a record's end. The new one
   * resolves their callers.
   */
  #supersede(one: Transaction): void {
    const [entry] = one.entries
    if (!one.isKept || entry === undefined || one.entries.length > 1) return
    const isEnd = entry.kind === 'gone' || entry.kind === 'over'
    const isObsolete = ({ isKept, keys, entries: [only, ...more], before }: Transaction) =>
      isKept &&
      before.size > 0 &&
      more.length === 0 &&
      keys.has(keyOf(entry)) &&
      (isEnd || (entry.kind === 'players' && only?.kind === 'players'))
    for (const last of one.before) {
      if (!isObsolete(last)) continue
      one.before.delete(last)
      one.callers.push(...last.callers)
      one.waiters.push(...last.waiters)
      for (const earlier of last.before) {
        earlier.after.delete(last)
        one.before.add(earlier)
      }
    }
  }

  /**
   * Writes entries, at once or after earlier ones of the same records. Returns undefined if they are written at once.
   */
  #add(entries: readonly HostingEntry[], isKept: boolean): Promise<void> | undefined {
    const one = new Transaction(entries, isKept)
    for (const key of one.keys) {
      const last = this.#latest.get(key)
      if (last !== undefined) one.before.add(last)
    }
    if (!isKept && one.isHeld())
      return Promise.reject(
        new Error('an earlier entry about the same server or match could not be written to the store'),
      )
    this.#supersede(one)
    for (const last of one.before) last.after.add(one)
    // Set this before the store is called, because the call may cause further entries, which must come later.
    for (const key of one.keys) this.#latest.set(key, one)
    if (one.before.size > 0) return this.#promised(one)
    const writing = this.#appended(one)
    if (writing !== undefined) {
      const whenWritten = this.#promised(one)
      this.#follow(one, writing)
      return whenWritten
    }
    this.#release(one)
    for (const { resolve } of one.waiters) resolve()
    this.#retry()
    return undefined
  }

  #promised(one: Transaction): Promise<void> {
    return new Promise((resolve, reject) => void one.callers.push({ resolve, reject }))
  }

  /** Resolves once a transaction and all before it are written. See `written`. */
  #whenWritten(one: Transaction | undefined): Promise<void> | undefined {
    if (one === undefined) return undefined
    if (one.isHeld()) return Promise.reject(new Error('the last attempt to write to the store failed'))
    return new Promise((resolve, reject) => void one.waiters.push({ resolve, reject }))
  }
}
