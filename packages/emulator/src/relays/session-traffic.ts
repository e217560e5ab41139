import { isIPv4, SocketAddress } from 'node:net'
import type { PacketCounters } from '../counters.js'
import type { RelayDataSettings } from '../settings.js'
import {
  answerOf,
  connectionIdOf,
  DATA,
  forClient,
  forHost,
  kindOf,
  type PacketKind,
  PING,
  RELAYED_HEADER,
  relayState,
  type RelayState,
  sessionTokenKey,
  type Side,
  tokenKey,
  userTokenKey,
} from './packet.js'
import { createRateCap, createSessionLimiter, type InvalidTokens, type RateCap, takeFrom } from './traffic-limits.js'

/** The source address and port of packets. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** A user that has pinged one of the session's ports. */
interface UserConnection {
  readonly side: Side
  /** The id by which the host knows a client: from 1, and never reused in the session. 0 for the host itself. */
  readonly id: number
  endpoint: Endpoint
  /** The time of the connection's first ping. */
  readonly since: number
  /** The time of the connection's last packet. */
  seenAt: number
}

/** Milliseconds of silence after which a connection counts as ended (our choice). */
export const STALE_MS = 10_000
/** Milliseconds of silence after which a user may continue from another endpoint (our choice). */
const MOVE_MS = 2000

const isAlive = (connection: UserConnection, now: number): boolean => now - connection.seenAt < STALE_MS

/** Returns true if the connection may send and receive data. */
const isValid = (connection: UserConnection, authDelayMs: number, now: number): boolean =>
  isAlive(connection, now) && now - connection.since >= authDelayMs

const isAt = ({ endpoint }: UserConnection, { port, address }: Endpoint): boolean =>
  endpoint.port === port && endpoint.address === address

function end(connection: UserConnection): void {
  connection.seenAt = -Infinity
}

const MAPPED = '::ffff:'

/** Normalizes an address to one spelling: without a zone, and IPv4 mapped into IPv6 as IPv4. */
export function plainAddress(text: string): string {
  if (isIPv4(text)) return text
  const [unzoned = ''] = text.split('%', 1)
  const { address } = new SocketAddress({ address: unzoned, family: 'ipv6' })
  const mapped = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : ''
  return isIPv4(mapped) ? mapped : address
}

/**
 * Returns true for a loopback address.
 * @param address as returned by `plainAddress`.
 */
export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'

interface SessionTrafficDeps {
  /** The session's token. It is secret. */
  readonly sessionToken: number
  /** The settings. Unlike elsewhere, `authDelayMs` is milliseconds of the clock, not of simulated time. */
  readonly settings: Omit<RelayDataSettings, 'host' | 'publicIp'>
  readonly counters: PacketCounters
  readonly invalidTokens: InvalidTokens
  readonly send: SendDatagram
}

/** Sends a datagram from the port of the given side, without the bytes before the offset `start`. */
export type SendDatagram = (side: Side, datagram: Buffer, start: number, to: Endpoint) => void

interface User {
  /** The only address from which the user may connect; undefined for any address. */
  readonly address: string | undefined
  readonly pings: RateCap
  readonly data: RateCap
  /** The user's latest connection, which may have ended. */
  connection: UserConnection | undefined
}

/**
 * Maximum number of pings per second of one user. Peers ping 1 to 10 times a second (public fact). Pings have their own
 * limit, so that a peer that sends too much data stays connected.
 */
const PINGS_PER_SECOND = 20

/**
 * Creates the packet handling of one session. It is pure, except for `send` and the counters. `now` must never
 * decrease. It has no timers: the end of a connection is detected when a packet arrives, because peers ping every half
 * second. It allocates no objects for a packet, because there may be 100,000 packets per second.
 */
export function createSessionTraffic({ sessionToken, settings, counters, invalidTokens, send }: SessionTrafficDeps) {
  const { authDelayMs, pinSource } = settings
  const { dropped } = counters
  const session = tokenKey(sessionToken)
  const users = new Map<number, User>()
  const clients = new Map<number, UserConnection>()
  const dataCap = createRateCap(settings.sessionPacketsPerSecond)
  const invalidLimiter = createSessionLimiter()
  /** The latest host. Its connection may have ended. */
  let host: UserConnection | undefined
  let nextId = 1

  /** Handles a datagram that arrived at the port of the given side. The datagram's buffer is overwritten. */
  const receive = (side: Side, datagram: Buffer, from: Endpoint, now: number) => {
    counters.received++
    const kind = kindOf(datagram, side)
    // Packets from port 0 cannot be answered.
    if ((kind !== PING && kind !== DATA) || from.port === 0) dropped.malformed++
    else {
      const user = sessionTokenKey(datagram) === session ? users.get(userTokenKey(datagram)) : undefined
      if (user === undefined) refuse(kind, side, from, now)
      else if (kind === PING) onPing(user, side, from, now)
      else if (side === 'server') onHostData(user, datagram, from, now)
      else onClientData(user, datagram, from, now)
    }
  }

  const answer = (state: RelayState, side: Side, to: Endpoint) => {
    counters.answered++
    send(side, answerOf(state), 0, to)
  }

  const refuse = (kind: PacketKind, side: Side, from: Endpoint, now: number) => {
    dropped.invalidToken++
    if (kind === PING && invalidTokens.mayAnswer(invalidLimiter, from.address, now))
      answer(relayState.invalid, side, from)
  }

  const onPing = (user: User, side: Side, from: Endpoint, now: number) => {
    const { connection } = user
    if (!takeFrom(user.pings, now)) dropped.userRate++
    else if (connection === undefined || !isAlive(connection, now)) onArrival(user, side, from, now)
    else if (connection.side !== side) answer(relayState.error, side, from)
    else if (isAt(connection, from)) onSign(connection, now)
    else if (!mayConnect(user, from)) refuse(PING, side, from, now)
    else if (now - connection.seenAt < MOVE_MS) answer(relayState.checking, side, from)
    else {
      connection.endpoint = from
      onSign(connection, now)
    }
  }

  const onArrival = (user: User, side: Side, from: Endpoint, now: number) => {
    if (!mayConnect(user, from)) refuse(PING, side, from, now)
    else if (side === 'server' && host !== undefined && isAlive(host, now)) answer(relayState.error, side, from)
    else onSign(connect(user, side, from, now), now)
  }

  const connect = (user: User, side: Side, endpoint: Endpoint, now: number): UserConnection => {
    if (user.connection !== undefined) clients.delete(user.connection.id)
    const connection = { side, id: side === 'server' ? 0 : nextId++, endpoint, since: now, seenAt: now }
    user.connection = connection
    if (side === 'server') host = connection
    else clients.set(connection.id, connection)
    return connection
  }

  /** Called for each packet of a connection, because it shows that the connection is alive. */
  const onSign = (connection: UserConnection, now: number) => {
    connection.seenAt = now
    answer(stateOf(connection, now), connection.side, connection.endpoint)
  }

  const stateOf = (connection: UserConnection, now: number): RelayState => {
    if (!isValid(connection, authDelayMs, now)) return relayState.checking
    const hostGone = host !== undefined && !isAlive(host, now)
    return hostGone ? relayState.timedOut : relayState.valid
  }

  const onClientData = (user: User, datagram: Buffer, from: Endpoint, now: number) => {
    const connection = sender(user, 'client', from, now)
    if (connection === undefined) return
    if (host === undefined || !isValid(host, authDelayMs, now)) dropped.noHost++
    else relay('server', datagram, forHost(datagram, connection.id), host)
  }

  const onHostData = (user: User, datagram: Buffer, from: Endpoint, now: number) => {
    if (sender(user, 'server', from, now) === undefined) return
    const client = clients.get(connectionIdOf(datagram))
    if (client === undefined || !isValid(client, authDelayMs, now)) dropped.noClient++
    else relay('client', datagram, forClient(datagram), client)
  }

  /**
   * Returns the connection by which the user may send from this endpoint; undefined if the user may not send from it.
   */
  const sender = (user: User, side: Side, from: Endpoint, now: number): UserConnection | undefined => {
    const { connection } = user
    if (
      connection === undefined ||
      connection.side !== side ||
      !isAt(connection, from) ||
      !isValid(connection, authDelayMs, now)
    ) {
      dropped.notConnected++
      return undefined
    }
    connection.seenAt = now
    if (!takeFrom(user.data, now)) dropped.userRate++
    else if (!takeFrom(dataCap, now)) dropped.sessionRate++
    else return connection
    return undefined
  }

  const relay = (side: Side, datagram: Buffer, start: number, to: UserConnection) => {
    counters.relayed++
    counters.relayedBytes += datagram.length - start - RELAYED_HEADER[side]
    send(side, datagram, start, to.endpoint)
  }

  return {
    receive,
    /** Allows a user to connect. Each user has a different token. */
    authorize: ({ token, ip }: { readonly token: number; readonly ip: string }) => {
      users.set(tokenKey(token), {
        address: pinSource ? plainAddress(ip) : undefined,
        pings: createRateCap(PINGS_PER_SECOND),
        data: createRateCap(settings.userPacketsPerSecond),
        connection: undefined,
      })
    },
    /** Revokes a user's token. From now on the user's pings are answered with `invalid`. */
    revoke: (token: number) => {
      const connection = users.get(tokenKey(token))?.connection
      users.delete(tokenKey(token))
      if (connection === undefined) return
      end(connection)
      clients.delete(connection.id)
    },
    /** Returns the number of connected users. */
    connected: (now: number) =>
      Array.from(users.values()).filter(({ connection }) => connection !== undefined && isAlive(connection, now))
        .length,
  }
}

function mayConnect({ address }: User, from: Endpoint): boolean {
  if (address === undefined) return true
  const source = plainAddress(from.address)
  return source === address || isLoopback(source)
}
