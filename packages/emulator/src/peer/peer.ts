import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type Clock, systemClock } from '@muster/core/clock'
import { having } from '@muster/core/internal'
import { z } from 'zod'
import { checked } from '../option-values.js'
import {
  dataPacket,
  MAX_PAYLOAD,
  pingPacket,
  readRelayed,
  relayState,
  type RelayState,
  type Side,
} from '../relays/index.js'

/** The role of a peer. The host exchanges data with every client. A client exchanges data only with the host. */
export type PeerRole = 'host' | 'client'

/**
 * Options of a peer. A player's credentials, from a lobby or `credentialsFor` of `@muster/relay`, are valid options.
 */
export interface PeerOptions {
  /** The relay's address or name: `relay.ip` or `relay.host`. */
  readonly host: string
  /** The relay's port: `relay.ports.server` for the host, `relay.ports.client` for a client. */
  readonly port: number
  readonly role: PeerRole
  /** The user's own authorization_token. */
  readonly userToken: number
  /** The session's authorization_token. */
  readonly sessionToken: number
  /** The transport protocol. Only UDP is supported, the only sampled value. */
  readonly protocol?: string | undefined
  /** The session's id, which a player's credentials contain. It is not used. */
  readonly sessionId?: string | undefined
  readonly ip?: string | undefined
  readonly link?: string | undefined
  /** The clock. Default: the machine's clock. */
  readonly clock?: Clock | undefined
  /** Milliseconds between two pings, 100 to 1000 (public fact). Default 500. */
  readonly pingMs?: number | undefined
  /**
   * Milliseconds after which `connect` gives up, and milliseconds of silence after which the relay counts as lost.
   * Default 10,000.
   */
  readonly timeoutMs?: number | undefined
}

const aToken = 'must be an unsigned 32-bit integer'
const token = z.int(aToken).min(0, aToken).max(0xffff_ffff, aToken)

export const PeerOptions: z.ZodType<PeerOptions> = z.strictObject({
  host: z.string().min(1),
  port: z.int().min(1).max(65_535),
  role: z.enum(['host', 'client']),
  userToken: token,
  sessionToken: token,
  protocol: z.string().regex(/^udp$/i, 'must be UDP').optional(),
  sessionId: z.string().optional(),
  ip: z.string().optional(),
  link: z.string().optional(),
  clock: having<Clock>('now', 'sleep').optional(),
  pingMs: z.number().min(100).max(1000).optional(),
  timeoutMs: z.number().positive().optional(),
})

/**
 * The problem of a peer:
 * - `invalid`: the relay does not know the tokens, or no longer knows them.
 * - `session timed out`: the host was connected and has become silent.
 * - `error`: the relay has refused the peer, because another host is connected, or the user in another role.
 * - `no answer`: the relay was silent, or answered only `checking`, for too long.
 * - `unreachable`: the host name does not exist, or there is no route to it.
 * - `not valid`: data cannot be sent in this state.
 * - `closed`: the peer was closed by `close` before it was connected.
 */
export type PeerProblem =
  | 'invalid'
  | 'session timed out'
  | 'error'
  | 'no answer'
  | 'unreachable'
  | 'not valid'
  | 'closed'

/** Thrown if a peer could not connect or send. */
export class PeerError extends Error {
  override readonly name = 'PeerError'
  readonly problem: PeerProblem

  constructor(problem: PeerProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}

/**
 * The state of a peer's connection to the relay:
 * - `disconnected`: not connected yet, closed, or without an answer for too long.
 * - `checking`: the relay has not decided yet.
 * - `valid`: the relay forwards data.
 * - `invalid`: the relay does not know the tokens, or no longer knows them.
 * - `timed out`: the host is silent and may come back.
 * - `error`: the relay refuses the peer.
 */
export type PeerState = 'disconnected' | 'checking' | 'valid' | 'invalid' | 'timed out' | 'error'

const names = {
  [relayState.checking]: 'checking',
  [relayState.valid]: 'valid',
  [relayState.invalid]: 'invalid',
  [relayState.timedOut]: 'timed out',
  [relayState.error]: 'error',
} as const satisfies Record<RelayState, PeerState>

/**
 * Returns the reason for which the relay refuses a peer in this state. Undefined for a state in which the peer is valid
 * or may become valid.
 */
function problemOf(state: PeerState): PeerError | undefined {
  if (state === 'invalid') return new PeerError('invalid', 'the relay does not know these tokens')
  if (state === 'timed out') return new PeerError('session timed out', 'the host of the session is silent')
  if (state === 'error')
    return new PeerError(
      'error',
      'the relay refuses the connection: the session already has a host, or this user has the other role',
    )
  return undefined
}

/** A set of listeners. */
function createListeners<Value>() {
  const listeners = new Set<(value: Value) => void>()
  return {
    /** Adds a listener. Returns a function that removes it. */
    add: (listener: (value: Value) => void) => {
      // Each call adds its own function, so that a listener that is added twice is called twice and removed separately.
      const entry = (value: Value) => listener(value)
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    tell: (value: Value) => {
      for (const listener of listeners) listener(value)
    },
  }
}

/**
 * Opens a UDP socket that receives only from the relay.
 * @throws PeerError `unreachable`.
 */
async function openPeerSocket(host: string, port: number): Promise<Socket> {
  let socket: Socket | undefined
  try {
    const { address, family } = await lookup(host)
    socket = createSocket(family === 6 ? 'udp6' : 'udp4')
    socket.connect(port, address)
    await once(socket, 'connect')
  } catch (cause) {
    socket?.close()
    throw new PeerError('unreachable', 'the relay cannot be reached', { cause })
  }
  // Errors are ignored. Some systems report that nothing listens at the port, which the relay's silence shows too.
  return socket.on('error', () => {})
}

/** The common interface of host and client peers. */
export interface PeerConnection<Message> {
  readonly state: PeerState
  /**
   * Connects. Resolves once the relay has accepted the peer as valid. A peer that is disconnected, invalid or in error
   * may connect again.
   * @param options.signal aborting it cancels connecting; it has no effect once connected.
   * @throws PeerError (`invalid`, `session timed out`, `error`, `no answer`, `unreachable`, `closed`), or
   * `signal.reason`.
   */
  connect(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  /** Adds a listener to be called with each new state. Returns a function that removes it. */
  onState(listener: (state: PeerState) => void): () => void
  /** Adds a listener for messages, whose data the listener may keep. Returns a function that removes the listener. */
  onMessage(listener: (message: Message) => void): () => void
  /**
   * Closes the connection. The protocol has no message for it, so the relay ends the connection after 10 s of silence.
   */
  close(): void
}

/** One connection, from `connect` until it fails or ends. */
interface RelayConnection {
  /** Aborted when the connection ends, with the reason. */
  readonly ended: AbortController
  socket: Socket | undefined
  /** True if the peer has been valid on this connection. */
  admitted: boolean
  /** Time of the relay's last message other than `checking`. */
  heardAt: number
}

/**
 * Creates the common part of host and client peers.
 * @param messageOf creates a listener's message from a connection id and data.
 */
function createPeerConnection<Message>(
  options: PeerOptions,
  side: Side,
  messageOf: (data: Buffer, connectionId: number) => Message,
): { readonly connection: PeerConnection<Message>; readonly send: (data: Uint8Array, connectionId?: number) => void } {
  const { host, port, userToken, sessionToken, clock = systemClock, pingMs = 500, timeoutMs = 10_000 } = options
  const states = createListeners<PeerState>()
  const messages = createListeners<Message>()
  let state: PeerState = 'disconnected'
  let line: RelayConnection | undefined

  const become = (next: PeerState) => {
    if (next === state) return
    state = next
    states.tell(next)
  }

  const hangUp = (current: RelayConnection, next: PeerState, reason: unknown) => {
    if (line !== current) return
    line = undefined
    current.socket?.close()
    current.ended.abort(reason)
    become(next)
  }

  const hear = (current: RelayConnection, datagram: Buffer) => {
    const heard = readRelayed(datagram, side)
    if (heard?.kind === 'state') onAnswer(current, names[heard.state])
    if (heard?.kind !== 'data') return
    current.heardAt = clock.now()
    messages.tell(messageOf(heard.payload, heard.connectionId))
  }

  const onAnswer = (current: RelayConnection, answer: PeerState) => {
    if (answer !== 'checking') current.heardAt = clock.now()
    if (answer === 'valid') current.admitted = true
    const problem = problemOf(answer)
    // A client that was valid before continues to ping, because its host may come back.
    const waits = answer === 'timed out' && current.admitted
    if (problem === undefined || waits) become(answer)
    else hangUp(current, answer, problem)
  }

  const keepPinging = async (current: RelayConnection, socket: Socket) => {
    const ping = pingPacket(userToken, sessionToken)
    const { signal } = current.ended
    while (!signal.aborted) {
      if (clock.now() - current.heardAt >= timeoutMs) {
        const reason = new PeerError('no answer', 'the relay does not answer, or is still checking the tokens')
        return hangUp(current, 'disconnected', reason)
      }
      socket.send(ping)
      await clock.sleep(pingMs, signal).catch(() => {})
    }
  }

  /** Resolves once the peer is valid. Rejects with the reason if the connection ends before. */
  const admitted = ({ ended: { signal } }: RelayConnection) =>
    new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      const stop = states.add((next) => {
        if (next === 'checking') return
        stop()
        if (next === 'valid') resolve()
      })
    })

  const connect = async ({ signal }: { readonly signal?: AbortSignal | undefined } = {}) => {
    signal?.throwIfAborted()
    if (line !== undefined) throw new Error('the peer is connected already, or connecting')
    const current: RelayConnection = {
      ended: new AbortController(),
      socket: undefined,
      admitted: false,
      heardAt: clock.now(),
    }
    line = current
    const abort = () => hangUp(current, 'disconnected', signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    become('checking')
    try {
      const socket = await openPeerSocket(host, port)
      if (current.ended.signal.aborted) {
        socket.close()
        throw current.ended.signal.reason
      }
      current.socket = socket.on('message', (datagram) => hear(current, datagram))
      const decision = admitted(current)
      void keepPinging(current, socket)
      await decision
    } catch (error) {
      hangUp(current, 'disconnected', error)
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  const send = (data: Uint8Array, connectionId?: number) => {
    if (data.length > MAX_PAYLOAD) throw new RangeError(`data must be at most ${MAX_PAYLOAD} bytes, got ${data.length}`)
    if (state !== 'valid') throw new PeerError('not valid', `data cannot be sent while the peer is ${state}`)
    line?.socket?.send(dataPacket(userToken, sessionToken, data, connectionId))
  }

  return {
    send,
    connection: {
      get state() {
        return state
      },
      connect,
      onState: states.add,
      onMessage: messages.add,
      close: () => {
        if (line !== undefined) hangUp(line, 'disconnected', new PeerError('closed', 'the peer has been closed'))
      },
    },
  }
}

/** A message that a client receives from its host. */
export interface ClientMessage {
  readonly data: Buffer
}

/** A message that the host receives from a client. */
export interface HostMessage extends ClientMessage {
  /**
   * Identifies the client that sent the message. It stays the same while the client is connected, and never identifies
   * another client.
   */
  readonly connectionId: number
}

export interface ClientPeer extends PeerConnection<ClientMessage> {
  readonly role: 'client'
  /**
   * Sends data to the host, at most 1187 bytes. Like all datagrams, the data may get lost.
   * @throws PeerError `not valid`, RangeError for data that is too long.
   */
  send(data: Uint8Array): void
}

export interface HostPeer extends PeerConnection<HostMessage> {
  readonly role: 'host'
  /**
   * Sends data to one client, at most 1187 bytes. Like all datagrams, the data may get lost. The host gets a client's
   * connection id with the client's first message.
   * @throws PeerError `not valid`, RangeError for data that is too long.
   */
  send(connectionId: number, data: Uint8Array): void
}

/**
 * Creates one player's end of a relay session from the player's credentials, for tests and bots. The option `role`
 * decides whether the peer is a host or a client.
 *
 * @example const peer = createPeer(lobby.run.credentials) if (peer.role === 'host') peer.onMessage(({ connectionId,
 * data }) => peer.send(connectionId, data)) await peer.connect()
 *
 * @example const host = createPeer({ role: 'host', host: relay.ip, port: relay.ports.server.port, userToken,
 * sessionToken })
 *
 * @throws TypeError naming the invalid option.
 */
export function createPeer(options: PeerOptions & { readonly role: 'host' }): HostPeer
export function createPeer(options: PeerOptions & { readonly role: 'client' }): ClientPeer
export function createPeer(options: PeerOptions): HostPeer | ClientPeer
export function createPeer(options: PeerOptions): HostPeer | ClientPeer {
  const chosen = checked('option', PeerOptions, options)
  if (chosen.role === 'client') {
    const { connection, send } = createPeerConnection(chosen, 'client', (data): ClientMessage => ({ data }))
    return Object.assign(connection, { role: chosen.role, send: (data: Uint8Array) => send(data) })
  }
  const messageOf = (data: Buffer, connectionId: number): HostMessage => ({ data, connectionId })
  const { connection, send } = createPeerConnection(chosen, 'server', messageOf)
  const sendTo = (connectionId: number, data: Uint8Array) => {
    if (!Number.isInteger(connectionId) || connectionId < 1 || connectionId > 0xffff_ffff)
      throw new RangeError(`connectionId must be one from a message of a client, got ${connectionId}`)
    send(data, connectionId)
  }
  return Object.assign(connection, { role: chosen.role, send: sendTo })
}
