import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import type { Session } from './session.js'

/** Maximum number of players whose last seat is remembered (our choice). */
const MOST_REMEMBERED = 100_000
/** Milliseconds after a seat's end within which its server may report late that the player has come (our choice). */
const LATE_MS = 300_000

type Of = Pick<Session, 'serverId' | 'id' | 'resumedUntil'>

interface Invitation {
  /** Undefined: the player gave their seat back, or was sent to a match. */
  readonly session: string | undefined
  readonly until: number
}

const nameOf = ({ serverId, id }: Of) => `${serverId} ${id}`

/**
 * Players whose presence on their seat a server may report: those whose last seat was on that server and who did not
 * give it back. Other players whom a server reports are present without a seat from Muster.
 */
export function createInvitations(clock: Pick<Clock, 'now'>) {
  const last = new LRUCache<string, Invitation>(growingTo(MOST_REMEMBERED))
  const names = (session: Of, playerId: string) => {
    const invitation = last.get(playerId)
    return invitation?.session === nameOf(session) && clock.now() < invitation.until
  }
  return {
    /** Called when the player has a seat in this session, and nowhere else. */
    given: (session: Of, playerId: string) => void last.set(playerId, { session: nameOf(session), until: Infinity }),
    /** Called when the player's seat in this session has ended, by the server's report or unused. */
    ended: (session: Of, playerId: string) => {
      if (names(session, playerId)) last.set(playerId, { session: nameOf(session), until: clock.now() + LATE_MS })
    },
    /** Called when the player gave their seat back. Then they have no seat on any server. */
    over: (playerId: string) => void last.set(playerId, { session: undefined, until: 0 }),
    /** True if the player's last seat was in this session. */
    names,
    /**
     * Like `names`. If an earlier process gave the server's seats, also true for unknown players, because only the
     * server knows them.
     */
    has: (session: Of, playerId: string) =>
      names(session, playerId) || (!last.has(playerId) && clock.now() < session.resumedUntil),
    /** True if the player recently had a seat. */
    knows: (playerId: string) => last.has(playerId),
  }
}
