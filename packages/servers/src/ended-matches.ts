import { growingTo } from '@muster/core/runtime'
import { LRUCache } from 'lru-cache'

/** The matches that have ended lately: a command about one of them finds nothing left to do, and is no mistake. */
export interface EndedMatches {
  add(matchId: string): void
  has(matchId: string): boolean
}

/** Matches remembered (our choice). */
const REMEMBERED = 10_000

export function createEndedMatches(): EndedMatches {
  const ended = new LRUCache<string, true>(growingTo(REMEMBERED))
  return { add: (matchId) => void ended.set(matchId, true), has: (matchId) => ended.has(matchId) }
}
