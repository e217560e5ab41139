import type { Side } from './packet.js'

/** Where packets come from. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** A user who has shown itself at one of the session's ports. */
export interface Connection {
  readonly side: Side
  /** By which the host knows a client: from 1, never used again in its session. 0 for the host itself. */
  readonly id: number
  endpoint: Endpoint
  /** When it came. */
  readonly since: number
  /** When something last came from it. */
  seenAt: number
}

/** Milliseconds of silence after which a connection is over (our choice). */
export const STALE_MS = 10_000
/** Milliseconds of silence after which the same user may go on from elsewhere (our choice). */
export const MOVE_MS = 2000

export const isAlive = (connection: Connection, now: number): boolean => now - connection.seenAt < STALE_MS

/** Whether it may send and is sent data. */
export const isValid = (connection: Connection, authDelayMs: number, now: number): boolean =>
  isAlive(connection, now) && now - connection.since >= authDelayMs

export const isAt = ({ endpoint }: Connection, { port, address }: Endpoint): boolean =>
  endpoint.port === port && endpoint.address === address

export function end(connection: Connection): void {
  connection.seenAt = -Infinity
}
