import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'

/** Names remembered (our choice). Those that nobody asked for longest are forgotten. */
const REMEMBERED = 100_000

/** When something has happened lately, by a name. @param windowMs milliseconds for which a time is remembered. */
export function createRecentTimes(windowMs: number, clock: Pick<Clock, 'now'>) {
  const byName = new LRUCache<string, readonly number[]>(growingTo(REMEMBERED))
  const of = (name: string) => (byName.get(name) ?? []).filter((at) => clock.now() - at < windowMs)
  return {
    /** Epoch milliseconds of each time within the window, the oldest first. */
    of,
    /** Adds the present time. */
    add: (name: string) => void byName.set(name, [...of(name), clock.now()]),
    forget: (name: string) => void byName.delete(name),
  }
}

/** Wrong passwords of a player at a server within a minute (our choice). */
const MOST_WRONG = 3
const WINDOW_MS = 60_000

/** Checks passwords of servers, and how often each player may be wrong. */
export function createPasswordTries(clock: Pick<Clock, 'now'>) {
  const wrong = createRecentTimes(WINDOW_MS, clock)
  const key = randomBytes(32)
  /** Texts of any length become texts of one. */
  const digest = (text: string) => createHmac('sha256', key).update(text).digest()
  const nameOf = (serverId: string, playerId: string) => `${serverId} ${playerId}`
  return {
    /** Milliseconds for which the player may not try this server again; 0 if they may. */
    waitMs: (serverId: string, playerId: string) => {
      const times = wrong.of(nameOf(serverId, playerId))
      return times.length < MOST_WRONG ? 0 : (times[0] ?? 0) + WINDOW_MS - clock.now()
    },
    /** Takes the same time for every text. A wrong one counts. */
    isRight: (
      serverId: string,
      playerId: string,
      { given, wanted }: { readonly given: string; readonly wanted: string },
    ) => {
      if (timingSafeEqual(digest(given), digest(wanted))) return true
      wrong.add(nameOf(serverId, playerId))
      return false
    },
  }
}
