import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import type { Session } from './session.js'

/** Maximum number of remembered players (our choice). */
const MOST_REMEMBERED = 100_000
/** Milliseconds for which a server may still report a player after the player's seat has ended (our choice). */
const LATE_MS = 300_000

type Of = Pick<Session, 'serverId' | 'id' | 'resumedUntil'>

interface Invitation {
  /**
   * The server and session of the player's last seat. Undefined if it was given back, or its player sent to a match.
   */
  readonly session: string | undefined
  readonly until: number
}

const nameOf = ({ serverId, id }: Of) => `${serverId} ${id}`

/** Remembers the last seat of each player. Only the server of that seat may report the player as seated. */
export function createInvitations(clock: Pick<Clock, 'now'>) {
  const last = new LRUCache<string, Invitation>(growingTo(MOST_REMEMBERED))
  const names = (session: Of, playerId: string) => {
    const invitation = last.get(playerId)
    return invitation?.session === nameOf(session) && clock.now() < invitation.until
  }
  return {
    /** Called when the player gets a seat in this session. */
    given: (session: Of, playerId: string) => void last.set(playerId, { session: nameOf(session), until: Infinity }),
    /** Called when the player's seat in this session ends: the player has left the server or never came. */
    ended: (session: Of, playerId: string) => {
      if (names(session, playerId)) last.set(playerId, { session: nameOf(session), until: clock.now() + LATE_MS })
    },
    /** Called when the player gave the seat back or was sent to a match. */
    over: (playerId: string) => void last.set(playerId, { session: undefined, until: 0 }),
    /** True if the player's last seat was in this session and may still be reported. */
    names,
    /** Like `names`, but also true for unknown players if the seats were given before a restart. */
    has: (session: Of, playerId: string) =>
      names(session, playerId) || (!last.has(playerId) && clock.now() < session.resumedUntil),
    /** True if the player's last seat is remembered. */
    knows: (playerId: string) => last.has(playerId),
  }
}
