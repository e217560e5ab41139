// pure: what one peer needs in order to connect
import type { ReadySession } from './session.js'

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
