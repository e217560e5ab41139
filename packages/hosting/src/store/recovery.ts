import { MatchmakerClosed } from '../errors.js'
import type { Clock } from '@muster/core/clock'
import { createYielder, unlessAborted } from '@muster/core/internal'
import type { StoredFleet } from './entries.js'
import type { ServerLog } from './server-log.js'

export interface RecoveryOptions {
  readonly serverLog: Pick<ServerLog, 'open'>
  readonly clock: Clock
  /** Milliseconds, to yield the event loop while thousands of matches are taken over. */
  readonly stopwatch: () => number
  /**
   * Receives all that is in the store, and takes over a server or a match at each step: servers come before the matches
   * on them.
   */
  readonly adopt: (stored: StoredFleet) => Iterable<void>
  /** All of it was taken over. */
  readonly adopted: () => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds until a store that could not be opened is tried again: another process may have it until it ends. */
const REOPEN_MS = 1000

/** Servers and matches that are taken over in one turn of the event loop: about 10 ms (our choice). */
const MOST_AT_ONCE = 500

/** Opens the store, and takes over what it says may still exist. */
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
    // A caller that starts the matchmaker gives its first commands in the same turn.
    if (!isDone) await undefined
    attempt()
    await opening
    return isDone
  }

  return {
    /** Recovers once. Resolves with false while the store is unreadable. */
    recover,
    /** Recovers, if that is due, and tells whether all is taken over. What a store in memory or a file has is by
     * then, unless it is much. */
    attempt,
    /**
     * Resolves when all is taken over, however often that is tried. Rejects with the signal's reason.
     * @throws {MatchmakerClosed} if the matchmaker is closed first
     */
    ready: async (signal?: AbortSignal) => {
      while (!(await unlessAborted(recover(), signal))) {
        if (isClosed) throw new MatchmakerClosed('the matchmaker was closed before its store was read')
        await clock.sleep(Math.max(0, reopenAt - clock.now()), signal)
      }
    },
    isDone: () => isDone,
    /** Whether the store could not be opened so far. */
    isFailing: () => !isDone && reopenAt > 0,
    /** Nothing is taken over from now on. */
    close: () => {
      isClosed = true
    },
  }
}
