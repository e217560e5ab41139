import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/runtime'
import type { Journal, JournalEntry } from './journal.js'

/** Writes to the journal, the entries of each match in their order, and keeps what cannot be written until it is. */
export interface Notes {
  /**
   * For what must be written before anything else is done: an intent, a create about to leave. Undefined when it is
   * written already. Rejects when it, or an earlier entry of its match, cannot be written: then it is not kept.
   */
  append(entry: JournalEntry): Promise<void> | undefined
  /**
   * For what has happened already: kept until it is written, with the next good append or at a retry. Undefined when it
   * is written already; else resolves when it is, however long that takes.
   */
  note(entry: JournalEntry): Promise<void> | undefined
  /** Retries where it is time. */
  advance(now: number): void
  /** Whether the last attempt to write failed, so that something is kept. */
  isBehind(): boolean
  /** Resolves when everything is written, or could not be at one more attempt. */
  flush(): Promise<void>
  /** The same, and closes the journal. @throws what that fails with; {Error} if it takes too long. */
  close(): Promise<void>
}

/** An entry that is not written yet. */
interface Unwritten {
  readonly entry: JournalEntry
  readonly written: () => void
  /** Undefined for one that is kept however often it fails. */
  readonly failed: ((error: unknown) => void) | undefined
}

/** Entries of one match. The first is being written, or has failed; there is none without a first one. */
type Backlog = Unwritten[]

/** Milliseconds from a failure to the next attempt. */
const RETRY_MS = 1000
/** Milliseconds for the last attempt and the closing: whoever ends the process does not wait for a disk that hangs. */
const CLOSE_MS = 5000
const WRITTEN = Promise.resolve()

export function createNotes(journal: Journal, clock: Clock, problem: (error: unknown, matchId: string) => void): Notes {
  const backlogs = new Map<string, Backlog>()
  /** Those whose first entry has failed and waits for a retry, the oldest first. */
  const stuck = new Set<Backlog>()
  const attempts = new Set<Promise<void>>()
  let isBehind = false
  /** Epoch milliseconds. */
  let retryAt = 0

  /** Undefined when it is written already. */
  const appended = (entry: JournalEntry): Promise<void> | undefined => {
    try {
      return journal.append(entry) ?? undefined
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

  const goOn = (backlog: Backlog, { entry }: Unwritten): void => {
    backlog.shift()
    const [next] = backlog
    if (next === undefined) backlogs.delete(entry.matchId)
    else attempt(backlog, next)
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
    problem(error, first.entry.matchId)
  }

  /** Only what matters still is kept of a match: the first entry, which may be half-way to the disk, and the latest. */
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

  /** Undefined when it is written already. */
  const add = (entry: JournalEntry, isKept: boolean): Promise<void> | undefined => {
    const backlog = backlogs.get(entry.matchId)
    if (backlog === undefined) {
      const writing = appended(entry)
      if (writing === undefined) {
        retry()
        return undefined
      }
      return new Promise((written, reject) => {
        const first = { entry, written, failed: isKept ? undefined : reject }
        const fresh = [first]
        backlogs.set(entry.matchId, fresh)
        attempt(fresh, first, writing)
      })
    }
    return new Promise((written, reject) => {
      if (isKept) enqueue(backlog, { entry, written, failed: undefined })
      else if (stuck.has(backlog))
        reject(new Error('an earlier entry of the match could not be written to the journal'))
      else enqueue(backlog, { entry, written, failed: reject })
    })
  }

  const flush = async (): Promise<void> => {
    while (attempts.size > 0) await Promise.all(attempts)
    retry()
    while (attempts.size > 0) await Promise.all(attempts)
  }

  return {
    append: (entry) => add(entry, false),
    note: (entry) => add(entry, true),
    advance: (now) => {
      // The oldest tells whether it works again; then the others follow.
      const [oldest] = stuck
      if (oldest !== undefined && now >= retryAt) attempt(oldest, oldest[0] as Unwritten)
    },
    isBehind: () => isBehind,
    flush,
    close: async () => {
      const closed = flush()
        .then(() => journal.close?.())
        .then(() => true)
      if ((await within(closed, CLOSE_MS, clock)) === true) return
      closed.catch(() => {})
      throw new Error(`the journal was not written and closed within ${CLOSE_MS} ms`)
    },
  }
}
