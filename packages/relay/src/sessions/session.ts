// pure: relay sessions as this package describes them
import type { Filter } from '@muster/core/api'

/** A player who takes part in a session. */
export interface RelayPlayer {
  /** Chosen by the caller. */
  readonly id: string
  /** The public address from which the player's packets come, in its canonical form. */
  readonly ip: string
}

/** A player with an own token. */
export interface RelaySeat extends RelayPlayer {
  /** Unsigned 32-bit (public fact). */
  readonly token: number
}

export interface RelayPort {
  readonly port: number
  /** Examples show `UDP`. */
  readonly protocol: string
  readonly link: string | undefined
}

/** The relay's address, ports and session token. */
export interface RelayLink {
  /** Host name, or the IP address where the service gives no name. */
  readonly host: string
  readonly ip: string | undefined
  /** The port for the host. */
  readonly server: RelayPort
  /** The port for all other peers. */
  readonly client: RelayPort
  /** The session's token, unsigned 32-bit, the same for all its peers. */
  readonly token: number
}

interface SessionFacts {
  readonly id: string
  /** The opener's name for the session, e.g. a lobby's id and term. */
  readonly label: string | undefined
  /** Id of the player whose peer hosts. */
  readonly hostId: string
  readonly filters: readonly Filter[]
  /** Epoch milliseconds. */
  readonly openedAt: number
}

/** A session that the service is still preparing. */
export interface OpenedSession extends SessionFacts {
  readonly ready: false
  readonly players: readonly RelayPlayer[]
}

/** A session that is ready to relay. Plain data that can be stored; it holds secrets. */
export interface ReadySession extends SessionFacts {
  readonly ready: true
  readonly link: RelayLink
  readonly seats: readonly RelaySeat[]
  /** Tokens of players who have left, which the service has not yet confirmed to be invalid. */
  readonly spent: readonly number[]
}

export type RelaySession = OpenedSession | ReadySession

export const playersOf = (session: RelaySession): readonly RelayPlayer[] =>
  session.ready ? session.seats.map(({ id, ip }) => ({ id, ip })) : session.players

/** Removes the player's seat. The token becomes spent, and is to be revoked. */
export function withoutSeat(session: ReadySession, playerId: string): ReadySession {
  const seat = session.seats.find(({ id }) => id === playerId)
  if (seat === undefined) return session
  return { ...session, seats: session.seats.filter((other) => other !== seat), spent: [...session.spent, seat.token] }
}
