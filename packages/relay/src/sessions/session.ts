// pure: relay sessions as this package speaks of them
import type { Filter } from '@muster/core/api'

/** One who takes part. */
export interface RelayPlayer {
  /** Chosen by the caller. */
  readonly id: string
  /** The public address from which the player's packets come, in its canonical form. */
  readonly ip: string
}

/** A player with a token, which is this player's alone. */
export interface RelaySeat extends RelayPlayer {
  /** Unsigned 32-bit (public fact). */
  readonly token: number
}

export interface RelayPort {
  readonly port: number
  /** Sampled as UDP. */
  readonly protocol: string
  readonly link: string | undefined
}

/** Where the packets go. */
export interface RelayLink {
  /** Host name, or the IP address where the service gives no name. */
  readonly host: string
  readonly ip: string | undefined
  /** For the hosting peer. */
  readonly server: RelayPort
  /** For all others. */
  readonly client: RelayPort
  /** The session's token, unsigned 32-bit, the same for all its peers. */
  readonly token: number
}

interface SessionFacts {
  readonly id: string
  /** What its opener calls it, e.g. a lobby's id and term. */
  readonly label: string | undefined
  /** The player whose peer hosts. */
  readonly hostId: string
  readonly filters: readonly Filter[]
  /** Epoch milliseconds. */
  readonly openedAt: number
}

/** A session that the service still prepares. */
export interface OpenedSession extends SessionFacts {
  readonly ready: false
  readonly players: readonly RelayPlayer[]
}

/** A session that relays. Plain data that can be stored; it holds secrets. */
export interface ReadySession extends SessionFacts {
  readonly ready: true
  readonly link: RelayLink
  readonly seats: readonly RelaySeat[]
  /** Tokens of players who are no longer in it, which the service has not yet confirmed to be invalid. */
  readonly spent: readonly number[]
}

export type RelaySession = OpenedSession | ReadySession

export const playersOf = (session: RelaySession): readonly RelayPlayer[] =>
  session.ready ? session.seats.map(({ id, ip }) => ({ id, ip })) : session.players

/** Takes the player's seat away; the token is spent from now on, and is to be revoked. */
export function withoutSeat(session: ReadySession, playerId: string): ReadySession {
  const seat = session.seats.find(({ id }) => id === playerId)
  if (seat === undefined) return session
  return { ...session, seats: session.seats.filter((other) => other !== seat), spent: [...session.spent, seat.token] }
}
