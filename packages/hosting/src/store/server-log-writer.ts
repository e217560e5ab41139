import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import { type HostingEntry, keyOf } from './entries.js'
import { NO_SERVER_LOG, type ServerLog } from './server-log.js'

/**
 * Writes entries to the store, those of one call as one. What concerns one server or match is written in order; what
 * could not be written is kept until it is.
 */
export type ServerLogWriter = ReturnType<typeof createServerLogWriter>

/** Milliseconds from a failure to the next attempt. */
const RETRY_MS = 1000
/** Milliseconds for the last attempt and the close: a disk that hangs must not delay the end of the process. */
const CLOSE_MS = 5000
/** A write that is done. One shared promise, so that callers with many writes need not await each. */
export const WRITTEN: Promise<void> = Promise.resolve()

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Entries that are written as one, and are not yet. */
class Transaction {
  entries: readonly HostingEntry[]
  /** The records that it changes: see `keyOf`. */
  readonly keys: ReadonlySet<string>
  /** Whether it is kept however often writing it fails. */
  readonly isKept: boolean
  /** Those before it that change one of its records. It is written after them. */
  readonly before = new Set<Transaction>()
  readonly after = new Set<Transaction>()
  /** The caller; and callers of `written`. */
  readonly callers: Waiter[] = []
  readonly waiters: Waiter[] = []
  /** Whether the last attempt to write it has failed. */
  isStuck = false

  constructor(entries: readonly HostingEntry[], isKept: boolean) {
    this.entries = entries
    this.isKept = isKept
    this.keys = new Set(entries.map(keyOf))
  }

  /** Whether it waits for one that could not be written, or is that one. */
  isHeld(): boolean {
    for (const { isStuck } of reached(this, 'before')) if (isStuck) return true
    return false
  }
}

/** The transaction, and all before or after it. There may be very many while the store cannot be written. */
function reached(one: Transaction, direction: 'before' | 'after'): ReadonlySet<Transaction> {
  const all = new Set([one])
  for (const each of all) for (const next of each[direction]) all.add(next)
  return all
}

export function createServerLogWriter(
  serverLog: ServerLog,
  clock: Clock,
  problem: (error: unknown, id: string) => void,
) {
  /** The latest transaction that changes a record, by the key of that. */
  const latest = new Map<string, Transaction>()
  /** Those whose last attempt has failed, oldest first. */
  const stuck = new Set<Transaction>()
  const attempts = new Set<Promise<void>>()
  let isBehind = false
  /** Time of the next retry, in epoch milliseconds. */
  let retryAt = 0

  /** Calls the store's `append`; returns undefined if the entries are written already. */
  const appended = ({ entries }: Transaction): Promise<void> | undefined => {
    if (entries.length === 0) return undefined
    try {
      return serverLog.append(entries) ?? undefined
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  const attempt = (one: Transaction): void => {
    one.isStuck = false
    stuck.delete(one)
    follow(one, appended(one) ?? WRITTEN)
  }
  const follow = (one: Transaction, writing: Promise<void>): void => {
    const done: Promise<void> = writing.then(
      () => succeeded(one),
      (error: unknown) => failed(one, error),
    )
    attempts.add(done)
    void done.then(() => attempts.delete(done))
  }

  /** Nothing of it is left to write. Those that wait for it alone are begun. */
  const release = (one: Transaction): void => {
    for (const key of one.keys) if (latest.get(key) === one) latest.delete(key)
    for (const next of one.after) {
      next.before.delete(one)
      if (next.before.size === 0) attempt(next)
    }
  }

  const retry = (): void => {
    for (const one of stuck) attempt(one)
  }

  const succeeded = (one: Transaction): void => {
    // One without entries, which were dropped, says nothing of the store.
    const hasWritten = one.entries.length > 0
    if (hasWritten) isBehind = false
    release(one)
    for (const { resolve } of [...one.callers, ...one.waiters]) resolve()
    if (hasWritten) retry()
  }

  const failed = (one: Transaction, error: unknown): void => {
    if (!one.isKept) {
      release(one)
      for (const { reject } of one.callers) reject(error)
      for (const { resolve } of one.waiters) resolve()
      return
    }
    isBehind = true
    retryAt = clock.now() + RETRY_MS
    one.isStuck = true
    stuck.add(one)
    for (const other of reached(one, 'after')) refuse(other, error)
    const [entry] = one.entries
    if (entry !== undefined) problem(error, 'matchId' in entry ? entry.matchId : entry.serverId)
  }

  /** Tells those who wait for it that it cannot be written now. Entries that are not kept are dropped. */
  const refuse = (one: Transaction, error: unknown): void => {
    for (const { reject } of one.waiters.splice(0)) reject(error)
    if (one.isKept) return
    one.entries = []
    for (const { reject } of one.callers.splice(0)) reject(error)
  }

  /**
   * Takes the place of entries before it that it makes obsolete: single ones about the same server or match, of which
   * none is under way.
   */
  const supersede = (one: Transaction): void => {
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

  /** Writes entries now, or after those about the same servers and matches; returns undefined if they are written. */
  const add = (entries: readonly HostingEntry[], isKept: boolean): Promise<void> | undefined => {
    const one = new Transaction(entries, isKept)
    for (const key of one.keys) {
      const last = latest.get(key)
      if (last !== undefined) one.before.add(last)
    }
    if (!isKept && one.isHeld())
      return Promise.reject(
        new Error('an earlier entry about the same server or match could not be written to the store'),
      )
    supersede(one)
    for (const last of one.before) last.after.add(one)
    // Before the store is called: what that causes by what it knows comes after this.
    for (const key of one.keys) latest.set(key, one)
    if (one.before.size > 0) return promised(one)
    const writing = appended(one)
    if (writing !== undefined) {
      const whenWritten = promised(one)
      follow(one, writing)
      return whenWritten
    }
    release(one)
    for (const { resolve } of one.waiters) resolve()
    retry()
    return undefined
  }
  const promised = (one: Transaction): Promise<void> =>
    new Promise((resolve, reject) => void one.callers.push({ resolve, reject }))

  const flush = async (): Promise<void> => {
    while (attempts.size > 0) await Promise.all(attempts)
    retry()
    while (attempts.size > 0) await Promise.all(attempts)
  }

  /** See `written`. */
  const whenWritten = (one: Transaction | undefined): Promise<void> | undefined => {
    if (one === undefined) return undefined
    if (one.isHeld()) return Promise.reject(new Error('the last attempt to write to the store failed'))
    return new Promise((resolve, reject) => void one.waiters.push({ resolve, reject }))
  }

  return {
    /** Whether entries are kept; if not, none need be made. */
    areKept: serverLog !== NO_SERVER_LOG,
    /**
     * Appends entries that must be written before anything else is done: an intent, or a create about to leave.
     * Returns undefined if they are written already. Rejects if they, or earlier ones of the same servers and matches,
     * cannot be written; they are then not kept.
     */
    append: (...entries: readonly HostingEntry[]): Promise<void> | undefined => add(entries, false),
    /**
     * Appends entries about something that has happened already. They are kept until they are written, with the next
     * successful append or at a retry. Returns undefined if they are written already; otherwise the promise resolves
     * once they are, however long that takes.
     */
    note: (...entries: readonly HostingEntry[]): Promise<void> | undefined => add(entries, true),
    /**
     * Resolves when all entries about the match and the server of this id are written. Rejects with the error if one
     * could not be written; it is kept and retried all the same. Returns undefined if all of them are written already.
     */
    written: (id: string): Promise<void> | undefined => {
      const ofMatch = whenWritten(latest.get(`m:${id}`))
      const ofServer = whenWritten(latest.get(`s:${id}`))
      return ofMatch === undefined || ofServer === undefined
        ? (ofMatch ?? ofServer)
        : Promise.all([ofMatch, ofServer]).then(() => {})
    },
    /** Retries failed entries once their retry time has come. */
    advance: (now: number) => {
      // Only the oldest is retried: if it succeeds, the store works again and the others follow.
      const [oldest] = stuck
      if (oldest !== undefined && now >= retryAt) attempt(oldest)
    },
    /** Whether the last attempt to write failed, so that entries are waiting. */
    isBehind: () => isBehind,
    /** Resolves when every entry is written, or has failed at one more attempt. */
    flush,
    /**
     * Flushes all entries and closes the store.
     * @throws the error of the store's `close`; {Error} if closing takes too long.
     */
    close: async () => {
      const closed = flush()
        .then(() => serverLog.close?.())
        .then(() => true)
      if ((await within(closed, CLOSE_MS, clock)) === true) return
      closed.catch(() => {})
      throw new Error(`the store was not written and closed within ${CLOSE_MS} ms`)
    },
  }
}
