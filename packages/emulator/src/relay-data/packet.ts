/**
 * The relay's packets (public fact). Integers are little-endian. `Side` is the port that a packet comes in
 * by, or leaves from:
 *
 *   peer → relay    user token u32, session token u32, 1                          ping
 *   client → relay  user token u32, session token u32, 2, payload                 data
 *   host → relay    user token u32, session token u32, 2, connection id u32, payload
 *   relay → peer    1, state u8
 *   relay → client  2, payload
 *   relay → host    2, connection id u32, payload
 *
 * What the relay sends on is what it received, with a new header written in place over the end of the old one.
 */

/** The session's server port is the hosting peer's, its client port everybody else's. */
export type Side = 'server' | 'client'

/** Bytes of a datagram, at most. */
export const MAX_DATAGRAM = 1200
/** Bytes of payload, at most: what is left beside the longest header. */
export const MAX_PAYLOAD = 1187

/** The first byte of what the relay sends, and the byte after the tokens of what it receives. */
export const PING = 1
export const DATA = 2
const MALFORMED = 0
export type PacketKind = typeof PING | typeof DATA | typeof MALFORMED

/** What the relay says of a peer, in answer to a ping. 0, disconnected, is the peer's own word and never sent. */
export const relayState = { checking: 1, valid: 2, invalid: 3, timedOut: 4, error: 5 } as const
export type RelayState = (typeof relayState)[keyof typeof relayState]

const SESSION_TOKEN = 4
const KIND = 8
const CONNECTION_ID = 9
/** Bytes before the payload of what peers send. */
const HEADER = { client: 9, server: 13 } as const satisfies Record<Side, number>
/** Bytes before the payload of what the relay sends to the peers at that side. */
export const RELAYED_HEADER = { client: 1, server: 5 } as const satisfies Record<Side, number>

/** What a peer has sent; MALFORMED also for a datagram of a length that its kind cannot have. */
export function kindOf(datagram: Buffer, side: Side): PacketKind {
  const { length } = datagram
  if (length < HEADER.client || length > MAX_DATAGRAM) return MALFORMED
  const kind = datagram[KIND]
  if (kind === PING) return length === HEADER.client ? PING : MALFORMED
  return kind === DATA && length >= HEADER[side] ? DATA : MALFORMED
}

/**
 * A token as it is compared and looked up: as a signed integer, because the upper half of the unsigned
 * ones would each be an object of their own.
 */
export const tokenKey = (token: number) => token | 0

export const userTokenKey = (datagram: Buffer) => datagram.readInt32LE(0)
export const sessionTokenKey = (datagram: Buffer) => datagram.readInt32LE(SESSION_TOKEN)

/** Of a host's data. */
export const connectionIdOf = (datagram: Buffer) => datagram.readUInt32LE(CONNECTION_ID)

/** Turns a client's data into what its host gets. Returns where that begins. */
export function forHost(datagram: Buffer, connectionId: number): number {
  const start = HEADER.client - RELAYED_HEADER.server
  datagram[start] = DATA
  datagram.writeUInt32LE(connectionId, start + 1)
  return start
}

/** Turns a host's data into what the client gets. Returns where that begins. */
export function forClient(datagram: Buffer): number {
  const start = HEADER.server - RELAYED_HEADER.client
  datagram[start] = DATA
  return start
}

const answers = Array.from({ length: relayState.error + 1 }, (_, state) => Buffer.of(PING, state))

/** The answer to a ping. Always the same buffer for a state: not to be written to. */
export const answerOf = (state: RelayState): Buffer => answers[state] as Buffer

/** What a peer sends to show itself, and to stay connected. */
export function pingPacket(userToken: number, sessionToken: number): Buffer {
  return header(HEADER.client, userToken, sessionToken, PING)
}

/** @param connectionId for which client; a host's data alone has it. */
export function dataPacket(
  userToken: number,
  sessionToken: number,
  payload: Uint8Array,
  connectionId?: number,
): Buffer {
  const length = connectionId === undefined ? HEADER.client : HEADER.server
  const datagram = header(length + payload.length, userToken, sessionToken, DATA)
  if (connectionId !== undefined) datagram.writeUInt32LE(connectionId, CONNECTION_ID)
  datagram.set(payload, length)
  return datagram
}

function header(length: number, userToken: number, sessionToken: number, kind: PacketKind): Buffer {
  const datagram = Buffer.allocUnsafe(length)
  datagram.writeUInt32LE(userToken)
  datagram.writeUInt32LE(sessionToken, SESSION_TOKEN)
  datagram[KIND] = kind
  return datagram
}

/** What the relay has sent: its answer to a ping, or data. The payload is a view of the datagram. */
export type Relayed =
  | { readonly kind: 'state'; readonly state: RelayState }
  | {
      readonly kind: 'data'
      /** Of the client that sent it; 0 where it is the host's. */
      readonly connectionId: number
      readonly payload: Buffer
    }

/** @param side of the peer that reads. Undefined for what the relay does not send. */
export function readRelayed(datagram: Buffer, side: Side): Relayed | undefined {
  if (datagram.length > MAX_DATAGRAM) return undefined
  const [kind, state] = datagram
  if (kind === PING) return datagram.length === 2 && isRelayState(state) ? { kind: 'state', state } : undefined
  if (kind !== DATA || datagram.length < RELAYED_HEADER[side]) return undefined
  return {
    kind: 'data',
    connectionId: side === 'server' ? datagram.readUInt32LE(1) : 0,
    payload: datagram.subarray(RELAYED_HEADER[side]),
  }
}

const isRelayState = (code: number | undefined): code is RelayState =>
  code !== undefined && code >= relayState.checking && code <= relayState.error
