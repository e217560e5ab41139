import type { Clock } from '../clock.js'
import { createAttempts, type AttemptLimit, type Attempts } from './attempts.js'

/** Keeps the counts of limits: for this process, or for all that share them. */
export interface LimitStore {
  /**
   * The counts of one limit.
   * @param name e.g. `ticket-api.perCaller`: limits of the same name share their counts.
   */
  attempts(name: string, limit: AttemptLimit): Attempts
}

/** Counts in memory of this process, each limit by itself whatever its name. */
export const createMemoryLimitStore = (clock: Clock): LimitStore => ({
  attempts: (_, limit) => createAttempts({ ...limit, clock }),
})

/** The same store, with the names of all limits behind a prefix. */
export const prefixed = (store: LimitStore, prefix: string): LimitStore => ({
  attempts: (name, limit) => store.attempts(`${prefix}.${name}`, limit),
})
