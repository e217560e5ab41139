import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'

/** When something has happened lately, by a name. */
export interface RecentTimes {
  /** Epoch milliseconds of each time within the window, the oldest first. */
  of(name: string): readonly number[]
  /** Adds the present time. */
  add(name: string): void
  forget(name: string): void
}

/** Names remembered (our choice). Those to which nothing was added for longest are forgotten. */
const REMEMBERED = 100_000

/** @param windowMs milliseconds for which a time is remembered. */
export function createRecentTimes(windowMs: number, clock: Pick<Clock, 'now'>): RecentTimes {
  const byName = new LRUCache<string, readonly number[]>(growingTo(REMEMBERED))
  const of = (name: string) => (byName.get(name) ?? []).filter((at) => clock.now() - at < windowMs)
  return {
    of,
    add: (name) => void byName.set(name, [...of(name), clock.now()]),
    forget: (name) => void byName.delete(name),
  }
}
