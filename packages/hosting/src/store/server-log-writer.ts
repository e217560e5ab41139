import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import { type HostingEntry, keyOf } from './entries.js'
import { NO_SERVER_LOG, type ServerLog } from './server-log.js'

/** Milliseconds from a failure to the next attempt. */
const RETRY_MS = 1000
/** Milliseconds for the last attempt and the close, because a hanging disk must not delay the end of the process. */
const CLOSE_MS = 5000
/** A finished write. One shared promise, so that callers with many writes need not await each. */
export const WRITTEN: Promise<void> = Promise.resolve()

interface WriteWaiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Entries that must be written together and are not written yet. */
class Transaction {
  entries: readonly HostingEntry[]
  /** The keys of the records that the transaction changes, see `keyOf`. */
  readonly keys: ReadonlySet<string>
  /** True if the transaction is kept after a failed write. */
  readonly isKept: boolean
  /** Earlier transactions that change one of the same records. This one is written after them. */
  readonly before = new Set<Transaction>()
  readonly after = new Set<Transaction>()
  /** The callers of `append` or `note` that wait for this write, and the callers of `written`. */
  readonly callers: WriteWaiter[] = []
  readonly waiters: WriteWaiter[] = []
  /** True if the last attempt to write the transaction failed. */
  isStuck = false

  constructor(entries: readonly HostingEntry[], isKept: boolean) {
    this.entries = entries
    this.isKept = isKept
    this.keys = new Set(entries.map(keyOf))
  }

  /** True if the transaction could not be written, or waits for one that could not. */
  isHeld(): boolean {
    for (const { isStuck } of reached(this, 'before')) if (isStuck) return true
    return false
  }
}

/** Returns the transaction, and all before or after it. These may be very many while the store cannot be written. */
function reached(one: Transaction, direction: 'before' | 'after'): ReadonlySet<Transaction> {
  const all = new Set([one])
  for (const each of all) for (const next of each[direction]) all.add(next)
  return all
}

/**
 * Writes entries to the store, those of one call together. Entries of one server or match are written in order. After a
 * failed write, entries of `note` are kept and written later. Entries of `append` are dropped.
 */
export class ServerLogWriter {
  readonly #serverLog: ServerLog
  readonly #clock: Clock
  readonly #problem: (error: unknown, id: string) => void
  /** The latest transaction of each record, by its key. */
  readonly #latest = new Map<string, Transaction>()
  /** Transactions whose last attempt has failed, oldest first. */
  readonly #stuck = new Set<Transaction>()
  readonly #attempts = new Set<Promise<void>>()
  #isBehind = false
  /** Time of the next retry, in epoch milliseconds. */
  #retryAt = 0
  /** True if the store keeps entries. Otherwise callers need not create any. */
  readonly areKept: boolean
  /** See `ServerLog`. */
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
   * Appends entries that must be written before anything else is done: an intent, or a create about to be sent. Returns
   * undefined if they are written already. Rejects if these entries, or earlier ones of the same servers and matches,
   * cannot be written. These entries are then dropped.
   */
  append(...entries: readonly HostingEntry[]): Promise<void> | undefined {
    return this.#add(entries, false)
  }

  /**
   * Appends entries about something that has already happened. They are kept until they are written, with the next
   * successful append or at a retry. Returns undefined if they are written already. Otherwise the promise resolves once
   * they are, however long that takes.
   */
  note(...entries: readonly HostingEntry[]): Promise<void> | undefined {
    return this.#add(entries, true)
  }

  /**
   * Resolves when all entries about the match and the server with this id are written. Rejects with an error if
   * one of them cannot be written now. That entry is kept and retried. Returns undefined if all are written already.
   */
  written(id: string): Promise<void> | undefined {
    const ofMatch = this.#whenWritten(this.#latest.get(`m:${id}`))
    const ofServer = this.#whenWritten(this.#latest.get(`s:${id}`))
    return ofMatch === undefined || ofServer === undefined
      ? (ofMatch ?? ofServer)
      : Promise.all([ofMatch, ofServer]).then(() => {})
  }

  /** Retries failed entries once their retry time has come. */
  advance(now: number) {
    // Only the oldest transaction is retried. If it succeeds, the store works again and the others follow.
    const [oldest] = this.#stuck
    if (oldest !== undefined && now >= this.#retryAt) this.#attempt(oldest)
  }

  /** True if the last attempt to write failed, so that entries are waiting. */
  isBehind() {
    return this.#isBehind
  }

  /** Resolves when every entry is written, or has failed once more. */
  async flush(): Promise<void> {
    while (this.#attempts.size > 0) await Promise.all(this.#attempts)
    this.#retry()
    while (this.#attempts.size > 0) await Promise.all(this.#attempts)
  }

  /**
   * Flushes all entries and closes the store.
   * @throws the error of the store's `close`; {Error} if closing takes too long.
   */
  async close() {
    const closed = this.flush()
      .then(() => this.#serverLog.close?.())
      .then(() => true)
    if ((await within(closed, CLOSE_MS, this.#clock)) === true) return
    closed.catch(() => {})
    throw new Error(`the store was not written and closed within ${CLOSE_MS} ms`)
  }

  /** Calls the store's `append`. Returns undefined if the entries are written already. */
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

  /** Called when nothing of a transaction is left to write. Begins the transactions that wait only for it. */
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
    // A transaction without entries (all were dropped) does not prove that the store works.
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

  /** Rejects the callers of a transaction that cannot be written now. Its entries are dropped unless they are kept. */
  #refuse(one: Transaction, error: unknown): void {
    for (const { reject } of one.waiters.splice(0)) reject(error)
    if (one.isKept) return
    one.entries = []
    for (const { reject } of one.callers.splice(0)) reject(error)
  }

  /**
   * Replaces earlier transactions that this one makes obsolete, and takes over their callers. They have a single entry
   * about the same server or match, and wait for other writes.
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

  /** Writes entries now, or after those about the same servers and matches. Returns undefined if they are written. */
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
    // Set before the store is called, so that entries caused by the call come after this one.
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

  /** See `written`. */
  #whenWritten(one: Transaction | undefined): Promise<void> | undefined {
    if (one === undefined) return undefined
    if (one.isHeld()) return Promise.reject(new Error('the last attempt to write to the store failed'))
    return new Promise((resolve, reject) => void one.waiters.push({ resolve, reject }))
  }
}
