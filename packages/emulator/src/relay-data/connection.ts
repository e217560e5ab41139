import type { Side } from './packet.js'

/** The address and port that packets come from. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** A user that has pinged one of the session's ports. */
export interface Connection {
  readonly side: Side
  /** The connection id by which the host knows a client: from 1, never reused in its session. 0 for the host itself. */
  readonly id: number
  endpoint: Endpoint
  /** The time of the connection's first ping. */
  readonly since: number
  /** The time of the connection's last packet. */
  seenAt: number
}

/** Milliseconds of silence after which a connection has ended (our choice). */
export const STALE_MS = 10_000
/** Milliseconds of silence after which the same user may continue from another endpoint (our choice). */
export const MOVE_MS = 2000

export const isAlive = (connection: Connection, now: number): boolean => now - connection.seenAt < STALE_MS

/** Whether the connection may send and receive data. */
export const isValid = (connection: Connection, authDelayMs: number, now: number): boolean =>
  isAlive(connection, now) && now - connection.since >= authDelayMs

export const isAt = ({ endpoint }: Connection, { port, address }: Endpoint): boolean =>
  endpoint.port === port && endpoint.address === address

export function end(connection: Connection): void {
  connection.seenAt = -Infinity
}
