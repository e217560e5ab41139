// pure: relay sessions as this package describes them
import type { Filter, RelaySessionOfUser, RelayUser, RelaySession as WireSession } from '@muster/core/api'
import { canonicalIp, type RelayPort as WirePort } from '@muster/core/internal'

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

/** All that one peer needs to connect, without any other peer's secrets. */
export interface RelayCredentials {
  readonly sessionId: string
  /** Each session has one host, which uses the relay's server port; all other peers are clients. */
  readonly role: 'host' | 'client'
  /** Host name or IP address of the relay. */
  readonly host: string
  readonly ip?: string | undefined
  readonly port: number
  readonly protocol: string
  readonly link?: string | undefined
  /** Unsigned 32-bit; second in every packet's header. */
  readonly sessionToken: number
  /** Unsigned 32-bit, this peer's own; first in every packet's header. */
  readonly userToken: number
}

/** Returns a player's credentials; undefined for a player without a seat. */
export function credentialsFor(session: ReadySession, playerId: string): RelayCredentials | undefined {
  const seat = session.seats.find(({ id }) => id === playerId)
  if (seat === undefined) return undefined
  const { host, ip, server, client, token: sessionToken } = session.link
  const role = playerId === session.hostId ? 'host' : 'client'
  return {
    sessionId: session.id,
    role,
    host,
    ip,
    ...(role === 'host' ? server : client),
    sessionToken,
    userToken: seat.token,
  }
}

/** A user of a session, whom the service identifies by address alone. */
export interface SessionUser {
  readonly ip: string
  readonly token: number
}

/** The service describes a session in two shapes; this is the common form. Unusable parts are left out. */
export interface Reading {
  readonly id: string
  /** The service's `ready`. Whether the session can be used is decided in `opening.ts`. */
  readonly ready: boolean
  readonly failed: boolean
  /** The complete link; undefined if any part is missing. */
  readonly link: RelayLink | undefined
  readonly users: readonly SessionUser[]
  readonly webhookUrl: string | undefined
}

export function readingOf(session: WireSession | RelaySessionOfUser): Reading {
  const users =
    'session_user' in session ? [session.session_user] : 'session_users' in session ? session.session_users : []
  return {
    id: session.session_id,
    ready: session.ready === true,
    failed: (session.error ?? '') !== '',
    link: linkOf(session),
    users: (users ?? []).flatMap(userOf),
    webhookUrl: session.webhook_url ?? undefined,
  }
}

function userOf(user: RelayUser | null | undefined): SessionUser[] {
  const ip = canonicalIp(user?.ip_address ?? '')
  const token = user?.authorization_token
  return ip === undefined || typeof token !== 'number' ? [] : [{ ip, token }]
}

function linkOf({ authorization_token: token, relay }: WireSession | RelaySessionOfUser): RelayLink | undefined {
  const server = portOf(relay?.ports?.server)
  const client = portOf(relay?.ports?.client)
  const ip = relay?.ip ?? undefined
  const host = relay?.host ?? ip
  if (typeof token !== 'number' || host === undefined || host === '' || server === undefined || client === undefined)
    return undefined
  return { host, ip, server, client, token }
}

const portOf = (port: WirePort | null | undefined): RelayPort | undefined =>
  typeof port?.port === 'number'
    ? { port: port.port, protocol: port.protocol ?? 'UDP', link: port.link ?? undefined }
    : undefined

/** Tokens at an address that no player has, in ascending order: neither taken, nor listed at another address too. */
export function freeTokens(ip: string, users: readonly SessionUser[], taken: ReadonlySet<number>): number[] {
  const here = new Set(users.filter((user) => user.ip === ip).map(({ token }) => token))
  const elsewhere = new Set(users.filter((user) => user.ip !== ip).map(({ token }) => token))
  return [...here].filter((token) => !taken.has(token) && !elsewhere.has(token)).toSorted((a, b) => a - b)
}

/**
 * Gives every player an own token. The service knows players by address only, so players behind one address share its
 * tokens: in the players' order, by ascending token. Any process gets the same result, whatever order the service
 * answers in. A player for whom the service has no token yet is missing.
 */
export function seatPlayers(players: readonly RelayPlayer[], users: readonly SessionUser[]) {
  const seats: RelaySeat[] = []
  const missing: RelayPlayer[] = []
  for (const { id, ip } of players) {
    const [token] = freeTokens(ip, users, new Set(seats.map((seat) => seat.token)))
    if (token === undefined) missing.push({ id, ip })
    else seats.push({ id, ip, token })
  }
  return { seats, missing }
}
