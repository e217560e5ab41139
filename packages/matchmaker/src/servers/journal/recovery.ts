import type { Clock } from '@muster/core/clock'
import { createBreather } from '../../breather.js'
import type { Journal, OpenIntent } from './journal.js'

/** Opens the journal, and takes over what it says may still exist. */
export interface Recovery {
  /** Recovers once. Resolves with false while the journal is unreadable. */
  recover(): Promise<boolean>
  isDone(): boolean
  /** Whether the journal could not be opened so far. */
  isFailing(): boolean
}

export interface RecoveryOptions {
  readonly journal: Pick<Journal, 'open'>
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds, to yield the event loop while thousands of matches are taken over. */
  readonly stopwatch: () => number
  /** Takes over a match. */
  readonly adopt: (open: OpenIntent) => void
  /** All matches were taken over. */
  readonly adopted: () => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds until a journal that could not be opened is tried again: another process may have it until it ends. */
const REOPEN_MS = 1000

export function createRecovery({
  journal,
  clock,
  stopwatch,
  adopt,
  adopted,
  problem,
}: RecoveryOptions): Recovery {
  let recovering: Promise<void> | undefined
  let isDone = false
  /** Epoch milliseconds before which the journal is not opened again. */
  let reopenAt = 0

  const recover = async (): Promise<void> => {
    const all = await journal.open(problem)
    const breather = createBreather(stopwatch)
    for (const open of all) {
      adopt(open)
      if (breather.isDue()) await breather.rest()
    }
    adopted()
  }

  return {
    recover: async () => {
      if (recovering === undefined && clock.now() < reopenAt) return false
      recovering ??= recover()
      try {
        await recovering
        isDone = true
      } catch (error) {
        recovering = undefined
        reopenAt = clock.now() + REOPEN_MS
        problem(error)
      }
      return isDone
    },
    isDone: () => isDone,
    isFailing: () => !isDone && reopenAt > 0,
  }
}
