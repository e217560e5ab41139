import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import { createRecentTimes } from './recent-times.js'

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

export function createPasswordTries(clock: Pick<Clock, 'now'>): PasswordTries {
  const wrong = createRecentTimes(WINDOW_MS, clock)
  const key = randomBytes(32)
  /** Texts of any length become texts of one. */
  const digest = (text: string) => createHmac('sha256', key).update(text).digest()
  const nameOf = (serverId: string, playerId: string) => `${serverId} ${playerId}`
  return {
    waitMs: (serverId, playerId) => {
      const times = wrong.of(nameOf(serverId, playerId))
      return times.length < MOST_WRONG ? 0 : (times[0] ?? 0) + WINDOW_MS - clock.now()
    },
    isRight: (serverId, playerId, { given, wanted }) => {
      if (timingSafeEqual(digest(given), digest(wanted))) return true
      wrong.add(nameOf(serverId, playerId))
      return false
    },
  }
}
