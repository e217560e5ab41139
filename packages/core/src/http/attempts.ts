import { LRUCache } from 'lru-cache'
import type { Clock } from '../time.js'
import { growingTo } from '../runtime/index.js'

/**
 * Allows `limit` attempts immediately, and then one every `windowMs / limit` milliseconds. In the long run, that is
 * `limit` attempts per window. One window never has twice as many.
 */
export interface AttemptLimit {
  readonly limit: number
  readonly windowMs: number
}

/**
 * Counts attempts by key, e.g. a player. Results are promises if the counts are in a remote store. These promises never
 * reject.
 */
export interface Attempts {
  /** Counts an attempt and returns 0. At the limit, counts nothing and returns the milliseconds to wait. */
  take(key: string): number | Promise<number>
  /** Takes back an attempt, e.g. if it succeeded and only failures count. */
  giveBack(key: string): void
  /** Returns the milliseconds until an attempt is allowed; 0 if one is allowed now. Counts nothing. */
  wait(key: string): number | Promise<number>
  /**
   * Counts an attempt that was made, whether allowed or not. Attempts beyond the limit delay later attempts, by at most
   * one window plus the wait of one attempt.
   */
  charge(key: string): void
}

/** Counts attempts in the memory of this process. */
export interface LocalAttempts extends Attempts {
  take(key: string): number
  wait(key: string): number
  /** Allows no attempt for some milliseconds, e.g. because other processes have counted more. */
  delay(key: string, ms: number): void
}

export interface AttemptsOptions extends AttemptLimit {
  readonly clock: Clock
  /**
   * Maximum number of keys. Beyond it, the least recently used key is dropped. Default 100,000, which take about 10 MB.
   */
  readonly maxKeys?: number | undefined
}

/** Epoch milliseconds at which all attempts of each key have faded. */
type ClearTimes = LRUCache<string, number>

const newClearTimes = (maxKeys = MOST_KEYS): ClearTimes => new LRUCache(growingTo(maxKeys))
const MOST_KEYS = 100_000

/**
 * Counts attempts by one number per key (the 'generic cell rate algorithm'): the time at which all attempts of the key
 * have faded. The counts are kept in the memory of this process.
 * @throws RangeError for a limit below 1 or a window that is not positive.
 */
export function createAttempts({ maxKeys, ...options }: AttemptsOptions): LocalAttempts {
  return attemptsIn(newClearTimes(maxKeys), options)
}

function attemptsIn(clearAt: ClearTimes, { limit, windowMs, clock }: Omit<AttemptsOptions, 'maxKeys'>): LocalAttempts {
  // A limit of NaN would allow every attempt.
  if (!(limit >= 1 && Number.isFinite(limit)))
    throw new RangeError(`option limit must be a number of at least 1, got ${limit}`)
  if (!(windowMs > 0 && Number.isFinite(windowMs)))
    throw new RangeError(`option windowMs must be positive milliseconds, got ${windowMs}`)
  const intervalMs = windowMs / limit
  // Tolerance for rounding: floating point represents times since 1970 to about 0.0002 ms.
  const roundingMs = 0.01

  // A delay from an earlier, longer window is reduced to what this limit allows.
  const clearOf = (key: string, now: number) => Math.min(Math.max(now, clearAt.get(key) ?? now), now + 2 * windowMs)
  const waitFor = (clear: number, now: number): number => {
    const waitMs = clear + intervalMs - now - windowMs
    return waitMs > roundingMs ? waitMs : 0
  }

  return {
    wait: (key) => {
      const now = clock.now()
      return waitFor(clearOf(key, now), now)
    },
    charge: (key) => {
      const now = clock.now()
      // Without a bound on the delay, frequent attempts would lock a key for good.
      clearAt.set(key, Math.min(clearOf(key, now) + intervalMs, now + 2 * windowMs))
    },
    take: (key) => {
      const now = clock.now()
      const clear = clearOf(key, now)
      const waitMs = waitFor(clear, now)
      if (waitMs === 0) clearAt.set(key, clear + intervalMs)
      return waitMs
    },
    delay: (key, ms) => {
      const now = clock.now()
      clearAt.set(key, Math.max(clearOf(key, now), now + windowMs - intervalMs + ms))
    },
    giveBack: (key) => {
      const clear = clearAt.get(key)
      // A faded key stays until it is the least recently used. To delete it and add it again takes longer.
      if (clear !== undefined) clearAt.set(key, clear - intervalMs)
    },
  }
}

/** Stores the counts of limits, for this process or for several. */
export interface LimitStore {
  /**
   * Returns the counts of one limit.
   * @param name e.g. `ticket-api.perCaller`. Limits of the same name share their counts.
   */
  attempts(name: string, limit: AttemptLimit): Attempts
}

/** A store whose counts are in the memory of this process. */
interface MemoryLimitStore extends LimitStore {
  attempts(name: string, limit: AttemptLimit): LocalAttempts
}

/** Creates a store that counts in the memory of this process. If a limit changes, its counts stay. */
export function createMemoryLimitStore(clock: Clock): MemoryLimitStore {
  const byName = new Map<string, ClearTimes>()
  return {
    attempts: (name, limit) => {
      const known = byName.get(name) ?? newClearTimes()
      byName.set(name, known)
      return attemptsIn(known, { ...limit, clock })
    },
  }
}

/**
 * Returns the same store, with a prefix before the names of all limits. The result is the same object each time, so
 * that what belongs to it outlives a reloaded API as its counts do.
 */
export function prefixed(store: LimitStore, prefix: string): LimitStore {
  const made = prefixedOf.get(store) ?? new Map<string, LimitStore>()
  prefixedOf.set(store, made)
  const known = made.get(prefix) ?? { attempts: (name, limit) => store.attempts(`${prefix}.${name}`, limit) }
  made.set(prefix, known)
  return known
}

const prefixedOf = new WeakMap<LimitStore, Map<string, LimitStore>>()
