import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'

/** Checks passwords of servers, and how often each player may be wrong. */
export interface PasswordTries {
  /** Milliseconds for which the player may not try this server again; 0 if they may. */
  waitMs(serverId: string, playerId: string): number
  /** Takes the same time for every text. A wrong one counts. */
  isRight(serverId: string, playerId: string, passwords: { readonly given: string; readonly wanted: string }): boolean
}

/** Wrong passwords of a player at a server within a minute (our choice). */
const MOST_WRONG = 3
const WINDOW_MS = 60_000
/** Players and servers remembered (our choice). */
const REMEMBERED = 100_000

export function createPasswordTries(clock: Pick<Clock, 'now'>): PasswordTries {
  const wrong = new LRUCache<string, readonly number[]>(growingTo(REMEMBERED))
  const key = randomBytes(32)
  /** Texts of any length become texts of one. */
  const digest = (text: string) => createHmac('sha256', key).update(text).digest()
  const recent = (name: string) => (wrong.get(name) ?? []).filter((at) => clock.now() - at < WINDOW_MS)
  const nameOf = (serverId: string, playerId: string) => `${serverId} ${playerId}`
  return {
    waitMs: (serverId, playerId) => {
      const times = recent(nameOf(serverId, playerId))
      return times.length < MOST_WRONG ? 0 : (times[0] ?? 0) + WINDOW_MS - clock.now()
    },
    isRight: (serverId, playerId, { given, wanted }) => {
      if (timingSafeEqual(digest(given), digest(wanted))) return true
      const name = nameOf(serverId, playerId)
      wrong.set(name, [...recent(name), clock.now()])
      return false
    },
  }
}
