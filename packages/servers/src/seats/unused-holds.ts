import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'

/** Holds that nobody used within this time count together (our choices). */
const WINDOW_MS = 300_000
const MOST_UNUSED = 3
/** Players remembered (our choice). */
const REMEMBERED = 100_000

/** Creates the function that counts a hold that a player let expire, and returns whether it was one too many. */
export function createUnusedHolds(clock: Pick<Clock, 'now'>): { count(playerId: string): boolean } {
  const byPlayer = new LRUCache<string, readonly number[]>(growingTo(REMEMBERED))
  return {
    count: (playerId) => {
      const now = clock.now()
      const times = [...(byPlayer.get(playerId) ?? []).filter((at) => now - at < WINDOW_MS), now]
      if (times.length < MOST_UNUSED) {
        byPlayer.set(playerId, times)
        return false
      }
      byPlayer.delete(playerId)
      return true
    },
  }
}
