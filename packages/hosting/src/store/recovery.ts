import { MatchmakerClosed } from '../errors.js'
import type { Clock } from '@muster/core/clock'
import { createYielder, unlessAborted } from '@muster/core/internal'
import type { StoredFleet } from './entries.js'
import type { ServerLog } from './server-log.js'

export interface RecoveryOptions {
  readonly serverLog: Pick<ServerLog, 'open'>
  readonly clock: Clock
  /** Returns a time in milliseconds, by which the takeover is divided so that the event loop can run. */
  readonly stopwatch: () => number
  /** Takes over the stored servers and matches, one at each step. Servers come before the matches on them. */
  readonly adopt: (stored: StoredFleet) => Iterable<void>
  readonly adopted: () => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds until a store that could not be opened is tried again. Another process may still have it open. */
const REOPEN_MS = 1000

/** Maximum number of servers and matches that are taken over at once, in about 10 ms (our choice). */
const MOST_AT_ONCE = 500

/** Takes over the stored servers and matches after a restart. */
export type Recovery = ReturnType<typeof createRecovery>

/** Creates the recovery: it opens the store, and takes over everything that may still exist. */
export function createRecovery(options: RecoveryOptions) {
  const { serverLog, clock, stopwatch, adopt, adopted, problem } = options
  let opening: Promise<unknown> | undefined
  let isDone = false
  let isClosed = false
  /** Epoch milliseconds before which a store that could not be opened is not tried again. */
  let reopenAt = 0
  /** The error that has ended the takeover. A second takeover would follow and create the same servers twice. */
  let interruption: { readonly error: unknown } | undefined

  const done = (): true => {
    adopted()
    return (isDone = true)
  }
  const adoptOnce = function* (stored: StoredFleet): Generator<void> {
    try {
      yield* adopt(stored)
    } catch (error) {
      interruption = { error }
      throw error
    }
  }
  const takeInSlices = async (stored: StoredFleet): Promise<boolean> => {
    const yielder = createYielder(stopwatch)
    for (const _ of adoptOnce(stored)) {
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
    if (interruption !== undefined) return failed(interruption.error)
    try {
      const read = serverLog.open(problem)
      if (!(read instanceof Promise) && read.servers.length + read.matches.length <= MOST_AT_ONCE) {
        for (const _ of adoptOnce(read));
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
    // Open the store in a later microtask, because the caller may give the new matchmaker its first commands in this
    // turn.
    if (!isDone) await undefined
    attempt()
    await opening
    return isDone
  }

  return {
    /** Makes one attempt. Resolves with false if the store could not be read. */
    recover,
    /**
     * Begins an attempt unless it is too early. Returns true if everything is taken over. A small store in memory or
     * in a file is taken over within the first call.
     */
    attempt,
    /**
     * Resolves once everything is taken over, after as many attempts as necessary. Rejects with the signal's reason.
     * @throws {MatchmakerClosed} if the matchmaker is closed first
     */
    ready: async (signal?: AbortSignal) => {
      while (!(await unlessAborted(recover(), signal))) {
        if (isClosed) throw new MatchmakerClosed('the matchmaker was closed before its store was read')
        await clock.sleep(Math.max(0, reopenAt - clock.now()), signal)
      }
    },
    isDone: () => isDone,
    /** True if the last attempt to open the store failed. */
    isFailing: () => !isDone && reopenAt > 0,
    close: () => {
      isClosed = true
    },
  }
}
