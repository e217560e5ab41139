import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import type { ServerEntry } from './server-log.js'
import { NO_SERVER_LOG, type ServerLog } from './server-log.js'

/** Writes entries to the store, each match's in order, and keeps entries that could not be written until they are. */
export type ServerLogWriter = ReturnType<typeof createServerLogWriter>

/** An entry that is not written yet. */
interface Unwritten {
  readonly entry: ServerEntry
  readonly written: () => void
  /** Rejects the caller's promise; undefined for an entry that is kept however often writing it fails. */
  readonly failed: ((error: unknown) => void) | undefined
}

/** The unwritten entries of one match, never empty: the first is being written, or has failed. */
type Backlog = Unwritten[]

/** Milliseconds from a failure to the next attempt. */
const RETRY_MS = 1000
/** Milliseconds for the last attempt and the close: a disk that hangs must not delay the end of the process. */
const CLOSE_MS = 5000
/** A write that is done. One shared promise, so that callers with many writes need not await each. */
export const WRITTEN: Promise<void> = Promise.resolve()
const NOTHING: Backlog = []

export function createServerLogWriter(
  serverLog: ServerLog,
  clock: Clock,
  problem: (error: unknown, matchId: string) => void,
) {
  const backlogs = new Map<string, Backlog>()
  /** Callers of `written`, by backlog. */
  const waiting = new Map<Backlog, { readonly resolve: () => void; readonly reject: (error: unknown) => void }[]>()
  /** Backlogs whose first entry has failed and waits for a retry, oldest first. */
  const stuck = new Set<Backlog>()
  const attempts = new Set<Promise<void>>()
  let isBehind = false
  /** The match whose entry is handed to the store, and entries that the store causes meanwhile by what it knows. */
  let handed: string | undefined
  let caused: Backlog | undefined
  /** Time of the next retry, in epoch milliseconds. */
  let retryAt = 0

  /** Calls the store's `append`; returns undefined if the entry is written already. */
  const appended = (entry: ServerEntry): Promise<void> | undefined => {
    try {
      return serverLog.append(entry) ?? undefined
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  const attempt = (backlog: Backlog, first: Unwritten, writing = appended(first.entry) ?? WRITTEN): void => {
    stuck.delete(backlog)
    const done: Promise<void> = writing.then(
      () => succeeded(backlog, first),
      (error: unknown) => failed(backlog, first, error),
    )
    attempts.add(done)
    void done.then(() => attempts.delete(done))
  }

  const waitersOf = (backlog: Backlog) => {
    const waiters = waiting.get(backlog) ?? []
    waiting.delete(backlog)
    return waiters
  }

  const goOn = (backlog: Backlog, { entry }: Unwritten): void => {
    backlog.shift()
    const [next] = backlog
    if (next !== undefined) return attempt(backlog, next)
    backlogs.delete(entry.matchId)
    for (const { resolve } of waitersOf(backlog)) resolve()
  }

  const retry = (): void => {
    for (const backlog of stuck) attempt(backlog, backlog[0] as Unwritten)
  }

  const succeeded = (backlog: Backlog, first: Unwritten): void => {
    isBehind = false
    goOn(backlog, first)
    first.written()
    retry()
  }

  const failed = (backlog: Backlog, first: Unwritten, error: unknown): void => {
    if (first.failed !== undefined) {
      goOn(backlog, first)
      return first.failed(error)
    }
    isBehind = true
    retryAt = clock.now() + RETRY_MS
    stuck.add(backlog)
    const refused = backlog.filter((one) => one.failed !== undefined)
    backlog.splice(0, backlog.length, ...backlog.filter((one) => one.failed === undefined))
    for (const one of refused) one.failed?.(error)
    for (const { reject } of waitersOf(backlog)) reject(error)
    problem(error, first.entry.matchId)
  }

  /** Drops entries that this one makes obsolete; never the first, which may be partly on the disk. */
  const enqueue = (backlog: Backlog, { entry, written, failed: refuse }: Unwritten): void => {
    const isOutdated = (one: Unwritten, index: number) =>
      index > 0 &&
      one.failed === undefined &&
      (entry.kind === 'settled' || (entry.kind === 'players' && one.entry.kind === 'players'))
    const outdated = backlog.filter(isOutdated)
    backlog.splice(0, backlog.length, ...backlog.filter((one) => !outdated.includes(one)))
    const tellAll = () => [...outdated, { written }].forEach((one) => one.written())
    backlog.push({ entry, written: outdated.length === 0 ? written : tellAll, failed: refuse })
  }

  /** Writes the entry of a match without a backlog; returns undefined if the entry is written already. */
  const handOver = (entry: ServerEntry, isKept: boolean): Promise<void> | undefined => {
    const { matchId } = entry
    const outer = handed
    const outerCaused = caused
    handed = matchId
    caused = undefined
    const writing = appended(entry)
    const behind: Backlog = caused ?? NOTHING
    handed = outer
    caused = outerCaused
    if (writing !== undefined) {
      return new Promise((written, reject) => {
        const first = { entry, written, failed: isKept ? undefined : reject }
        const fresh = [first, ...behind]
        backlogs.set(matchId, fresh)
        attempt(fresh, first, writing)
      })
    }
    const [next] = behind
    if (next !== undefined) {
      backlogs.set(matchId, behind)
      attempt(behind, next)
    }
    retry()
    return undefined
  }

  /** Writes an entry now, or behind its match's backlog; returns undefined if the entry is written already. */
  const add = (entry: ServerEntry, isKept: boolean): Promise<void> | undefined => {
    const backlog = backlogs.get(entry.matchId)
    if (backlog === undefined && handed !== entry.matchId) return handOver(entry, isKept)
    return new Promise((written, reject) => {
      const one = { entry, written, failed: isKept ? undefined : reject }
      if (backlog === undefined) enqueue((caused ??= []), one)
      else if (!isKept && stuck.has(backlog))
        reject(new Error('an earlier entry of the match could not be written to the store'))
      else enqueue(backlog, one)
    })
  }

  const flush = async (): Promise<void> => {
    while (attempts.size > 0) await Promise.all(attempts)
    retry()
    while (attempts.size > 0) await Promise.all(attempts)
  }

  return {
    /** Whether entries are kept; if not, none need be made. */
    areKept: serverLog !== NO_SERVER_LOG,
    /**
     * Appends an entry that must be written before anything else is done: an intent, or a create about to leave.
     * Returns undefined if the entry is written already. Rejects if this entry, or an earlier one of its match, cannot
     * be written; the entry is then not kept.
     */
    append: (entry: ServerEntry): Promise<void> | undefined => add(entry, false),
    /**
     * Appends an entry about something that has happened already. The entry is kept until it is written, with the next
     * successful append or at a retry. Returns undefined if the entry is written already; otherwise the promise
     * resolves once it is, however long that takes.
     */
    note: (entry: ServerEntry): Promise<void> | undefined => add(entry, true),
    /**
     * Resolves when all entries of a match are written. Rejects with the error if one could not be written; it is kept
     * and retried all the same. Returns undefined if all of them are written already.
     */
    written: (matchId: string): Promise<void> | undefined => {
      const backlog = backlogs.get(matchId)
      if (backlog === undefined) return undefined
      if (stuck.has(backlog)) return Promise.reject(new Error('the last attempt to write to the store failed'))
      return new Promise((resolve, reject) => {
        const waiters = waiting.get(backlog) ?? []
        waiters.push({ resolve, reject })
        waiting.set(backlog, waiters)
      })
    },
    /** Retries failed entries once their retry time has come. */
    advance: (now: number) => {
      // Only the oldest entry is retried: if it succeeds, the store works again and the others follow.
      const [oldest] = stuck
      if (oldest !== undefined && now >= retryAt) attempt(oldest, oldest[0] as Unwritten)
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
