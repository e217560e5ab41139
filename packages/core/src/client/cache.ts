import { LRUCache } from 'lru-cache'
import type { OperationId } from '../api/api.js'
import type { Clock } from '../clock.js'

/** Answers that rarely change, kept for a while. */
export interface AnswerCache {
  /** Returns undefined if nothing is kept under this key, or not any more. */
  get(key: string): object | undefined
  set(key: string, answer: unknown): void
}

const kept: ReadonlySet<OperationId> = new Set<OperationId>(['locations.list', 'locations.beacons'])

/**
 * Whether the answer may be kept: locations and beacons. Not the locations for an `app` and `version`,
 * which the service chooses by present capacity.
 */
export const mayKeep = (id: OperationId, input: Readonly<Record<string, unknown>>): boolean =>
  kept.has(id) && input['app'] === undefined && input['version'] === undefined

/** @param ttlMs milliseconds for which an answer is kept; 0 keeps none. */
export function createAnswerCache(ttlMs: number, clock: Clock): AnswerCache {
  if (ttlMs === 0) return { get: () => undefined, set: () => {} }
  // Enough for a few pages of a few filters. With ttlResolution 0 the cache reads the clock each time instead of
  // setting timers. It treats the instant 0 as 'never expires', and a clock may begin at 0; hence the + 1.
  const perf = { now: () => clock.now() + 1 }
  const answers = new LRUCache<string, object>({ max: 256, ttl: ttlMs, ttlResolution: 0, perf })
  return {
    get: (key) => answers.get(key),
    set: (key, answer) => {
      if (typeof answer === 'object' && answer !== null) answers.set(key, answer)
    },
  }
}
