import { MatchmakerClosed } from '../errors.js'
import type { Clock } from '@muster/core/clock'
import { createYielder, unlessAborted } from '@muster/core/internal'
import type { StoredFleet } from './entries.js'
import type { ServerLog } from './server-log.js'

export interface RecoveryOptions {
  readonly serverLog: Pick<ServerLog, 'open'>
  readonly clock: Clock
  /** Returns milliseconds. Used to yield the event loop while thousands of matches are taken over. */
  readonly stopwatch: () => number
  /**
   * Receives everything in the store, and takes over one server or match at each step. Servers come before the matches
   * on them.
   */
  readonly adopt: (stored: StoredFleet) => Iterable<void>
  /** Called once all records were taken over. */
  readonly adopted: () => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds until a store that could not be opened is tried again. Another process may hold it until it ends. */
const REOPEN_MS = 1000

/** Number of servers and matches taken over in one turn of the event loop: about 10 ms (our choice). */
const MOST_AT_ONCE = 500

/** Takes over the records of an earlier process. */
export type Recovery = ReturnType<typeof createRecovery>

/** Opens the store, and takes over everything in it that may still exist. */
export function createRecovery(options: RecoveryOptions) {
  const { serverLog, clock, stopwatch, adopt, adopted, problem } = options
  let opening: Promise<unknown> | undefined
  let isDone = false
  let isClosed = false
  /** Epoch milliseconds before which the store is not opened again. */
  let reopenAt = 0

  const done = (): true => {
    adopted()
    return (isDone = true)
  }
  const takeInSlices = async (stored: StoredFleet): Promise<boolean> => {
    const yielder = createYielder(stopwatch)
    for (const _ of adopt(stored)) {
      if (isClosed) return false
      if (yielder.isDue()) await yielder.yieldNow()
    }
    return !isClosed && done()
  }
  const failed = (error: unknown): false => {
    reopenAt = clock.now() + REOPEN_MS
    problem(error)
    return false
  }

  const attempt = (): boolean => {
    if (isDone || isClosed || opening !== undefined || clock.now() < reopenAt) return isDone
    try {
      const read = serverLog.open(problem)
      if (!(read instanceof Promise) && read.servers.length + read.matches.length <= MOST_AT_ONCE) {
        for (const _ of adopt(read));
        return done()
      }
      opening = Promise.resolve(read)
        .then(takeInSlices)
        .catch(failed)
        .finally(() => (opening = undefined))
      return false
    } catch (error) {
      return failed(error)
    }
  }
  const recover = async () => {
    // The store is opened later, because a caller that starts the matchmaker gives its first commands in the same turn.
    if (!isDone) await undefined
    attempt()
    await opening
    return isDone
  }

  return {
    /** Recovers once. Resolves with false while the store is unreadable. */
    recover,
    /**
     * Recovers if that is due. Returns true if everything is taken over. A store in memory or in a file is taken over
     * within the first call, unless it is large.
     */
    attempt,
    /**
     * Resolves when everything is taken over, after any number of attempts. Rejects with the signal's reason.
     * @throws {MatchmakerClosed} if the matchmaker is closed first
     */
    ready: async (signal?: AbortSignal) => {
      while (!(await unlessAborted(recover(), signal))) {
        if (isClosed) throw new MatchmakerClosed('the matchmaker was closed before its store was read')
        await clock.sleep(Math.max(0, reopenAt - clock.now()), signal)
      }
    },
    isDone: () => isDone,
    /** True if the store could not be opened so far. */
    isFailing: () => !isDone && reopenAt > 0,
    /** Takes nothing over from now on. */
    close: () => {
      isClosed = true
    },
  }
}
