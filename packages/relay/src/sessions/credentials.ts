// pure: what one peer needs to know
import type { ReadySession } from './session.js'

/** All that one peer needs in order to connect, and nothing of any other's. */
export interface RelayCredentials {
  readonly sessionId: string
  /** The host uses the relay's server port, and there is one in a session; all others are clients. */
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

/** Undefined for a player who has no seat. */
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
