import { TooManyRelaySessions } from '../errors.js'
import type { SessionContext } from './session-context.js'

/** Limits how many sessions one player hosts at once. */
export interface HostLimit {
  /** @throws {TooManyRelaySessions} when the player is at the limit. */
  admit(hostId: string): void
  /** Counts a session that is being created; returns a function that ends the count. */
  creating(hostId: string): () => void
}

/** @param most null for no limit. */
export function createHostLimit({ ledger }: Pick<SessionContext, 'ledger'>, most: number | null): HostLimit {
  const underWay = new Map<string, number>()
  const hosted = (hostId: string) =>
    [...ledger.values()].filter(({ session, condemned }) => session.hostId === hostId && condemned === undefined).length
  const count = (hostId: string, change: number) => {
    const now = (underWay.get(hostId) ?? 0) + change
    if (now === 0) underWay.delete(hostId)
    else underWay.set(hostId, now)
  }
  return {
    admit: (hostId) => {
      if (most === null || hosted(hostId) + (underWay.get(hostId) ?? 0) < most) return
      throw new TooManyRelaySessions(`a player hosts ${most} relay sessions already`, { limit: most })
    },
    creating: (hostId) => {
      count(hostId, 1)
      return () => count(hostId, -1)
    },
  }
}
