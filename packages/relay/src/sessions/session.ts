// pure: relay sessions in the form of this package
import type { Filter, RelaySessionOfUser, RelayUser, RelaySession as WireSession } from '@muster/core/api'
import { canonicalIp, type RelayPort as WirePort } from '@muster/core/internal'

/** A player who takes part in a session. */
export interface RelayPlayer {
  /** The player's id, chosen by the caller. */
  readonly id: string
  /** The public source address of the player's packets, in its canonical form. */
  readonly ip: string
}

/** A player with their own token. */
export interface RelaySeat extends RelayPlayer {
  /** The player's token, unsigned 32-bit (public fact). */
  readonly token: number
}

export interface RelayPort {
  readonly port: number
  /** E.g. `UDP`, as in the service's examples. */
  readonly protocol: string
  readonly link: string | undefined
}

/** The relay's address, ports and session token. */
export interface RelayLink {
  /** Host name, or the IP address if the service returns no name. */
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
  /** Tokens of players who have left that the service has not confirmed to be invalid yet. */
  readonly spent: readonly number[]
}

export type RelaySession = OpenedSession | ReadySession

export const playersOf = (session: RelaySession): readonly RelayPlayer[] =>
  session.ready ? session.seats.map(({ id, ip }) => ({ id, ip })) : session.players

/** Removes the player's seat. The token becomes spent, and has to be revoked. */
export function withoutSeat(session: ReadySession, playerId: string): ReadySession {
  const seat = session.seats.find(({ id }) => id === playerId)
  if (seat === undefined) return session
  return { ...session, seats: session.seats.filter((other) => other !== seat), spent: [...session.spent, seat.token] }
}

/** Everything that one peer needs to connect, without other peers' secrets. */
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
  /** The session's token, unsigned 32-bit; second in every packet's header. */
  readonly sessionToken: number
  /** This peer's own token, unsigned 32-bit; first in every packet's header. */
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

/** A user of a session, whom the service identifies only by address. */
export interface SessionUser {
  readonly ip: string
  readonly token: number
}

/** The common form of the two shapes in which the service describes a session. Unusable parts are omitted. */
export interface SessionReading {
  readonly id: string
  /** The service's `ready`. `open-session.ts` decides whether the session can be used. */
  readonly ready: boolean
  readonly failed: boolean
  /** The complete link; undefined if any part is missing. */
  readonly link: RelayLink | undefined
  readonly users: readonly SessionUser[]
  readonly webhookUrl: string | undefined
}

export function readingOf(session: WireSession | RelaySessionOfUser): SessionReading {
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

/** Returns the tokens that are listed only at this address and that no player has, in ascending order. */
export function freeTokens(ip: string, users: readonly SessionUser[], taken: ReadonlySet<number>): number[] {
  const here = new Set(users.filter((user) => user.ip === ip).map(({ token }) => token))
  const elsewhere = new Set(users.filter((user) => user.ip !== ip).map(({ token }) => token))
  return [...here].filter((token) => !taken.has(token) && !elsewhere.has(token)).toSorted((a, b) => a - b)
}

/**
 * Gives every player their own token. The service knows players only by address, so players behind one address share
 * its tokens: in the players' order, by ascending token. Any process gets the same result, regardless of the order in
 * the response. A player without a token at the service is in `missing`.
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
