import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import type { Session } from './session.js'

/** Players of whom we remember where they had their last seat (our choice). */
const MOST_REMEMBERED = 100_000
/** Milliseconds after its end for which a server may say late that the player of a seat has come (our choice). */
const LATE_MS = 300_000

type Of = Pick<Session, 'serverId' | 'id' | 'resumedUntil'>

interface Invitation {
  /** Undefined: the player gave their seat back, or was sent to a match. */
  readonly session: string | undefined
  readonly until: number
}

const nameOf = ({ serverId, id }: Of) => `${serverId} ${id}`

/**
 * Of which players a server is believed that they are on a seat of theirs: of those whose last seat was on it, and who
 * did not give it back. Of others it may say that they are there, not that it is their seat.
 */
export function createInvitations(clock: Pick<Clock, 'now'>) {
  const last = new LRUCache<string, Invitation>(growingTo(MOST_REMEMBERED))
  const names = (session: Of, playerId: string) => {
    const invitation = last.get(playerId)
    return invitation?.session === nameOf(session) && clock.now() < invitation.until
  }
  return {
    /** The player has a seat there, and nowhere else. */
    given: (session: Of, playerId: string) => void last.set(playerId, { session: nameOf(session), until: Infinity }),
    /** Their seat there has ended, by the server's word or unused. */
    ended: (session: Of, playerId: string) => {
      if (names(session, playerId)) last.set(playerId, { session: nameOf(session), until: clock.now() + LATE_MS })
    },
    /** The player gave their seat back: no server has them. */
    over: (playerId: string) => void last.set(playerId, { session: undefined, until: 0 }),
    /** Whether the player's last seat was there. */
    names,
    /** The same. A server may know better, as an earlier process gave its seats: then also whom we know nothing of. */
    has: (session: Of, playerId: string) =>
      names(session, playerId) || (!last.has(playerId) && clock.now() < session.resumedUntil),
    /** Whether the player had a seat lately. */
    knows: (playerId: string) => last.has(playerId),
  }
}
