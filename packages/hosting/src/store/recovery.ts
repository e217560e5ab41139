import { MatchmakerClosed } from '../errors.js'
import type { Clock } from '@muster/core/clock'
import { createYielder, unlessAborted } from '@muster/core/internal'
import type { ServerRecord } from './server-log.js'
import type { ServerLog } from './server-log.js'

export interface RecoveryOptions {
  readonly serverLog: Pick<ServerLog, 'open'>
  readonly clock: Clock
  /** Milliseconds, to yield the event loop while thousands of matches are taken over. */
  readonly stopwatch: () => number
  /** Receives all matches before the first is taken over. */
  readonly expect: (all: readonly ServerRecord[]) => void
  /** Takes over a match. */
  readonly adopt: (open: ServerRecord) => void
  /** All matches were taken over. */
  readonly adopted: () => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds until a store that could not be opened is tried again: another process may have it until it ends. */
const REOPEN_MS = 1000

/** Opens the store, and takes over what it says may still exist. */
export function createRecovery(options: RecoveryOptions) {
  const { serverLog, clock, stopwatch, expect, adopt, adopted, problem } = options
  let opening: Promise<unknown> | undefined
  let isDone = false
  let isClosed = false
  /** Epoch milliseconds before which the store is not opened again. */
  let reopenAt = 0

  const done = (): true => {
    adopted()
    return (isDone = true)
  }
  const takeInSlices = async (all: readonly ServerRecord[]): Promise<boolean> => {
    const yielder = createYielder(stopwatch)
    expect(all)
    for (const open of hostsFirst(all)) {
      if (isClosed) return false
      adopt(open)
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
      if (!(read instanceof Promise)) {
        expect(read)
        for (const open of hostsFirst(read)) adopt(open)
        return done()
      }
      opening = read
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
    /** Recovers, if that is due, and tells whether all is taken over. A store in memory is by then. */
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

/** Servers of pools come before the matches on them. */
const hostsFirst = (all: readonly ServerRecord[]): readonly ServerRecord[] => {
  const hosts = all.filter(({ pool }) => pool !== undefined)
  return hosts.length === 0 ? all : [...hosts, ...all.filter(({ pool }) => pool === undefined)]
}
