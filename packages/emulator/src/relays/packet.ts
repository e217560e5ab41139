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
 * The relay forwards the received datagram with a new header, written in place over the end of the old one.
 */

/**
 * The port by which a packet arrives or leaves. The host uses the server port, and all other peers use the client port.
 */
export type Side = 'server' | 'client'

/** Maximum length of a datagram in bytes. */
export const MAX_DATAGRAM = 1200
/** Maximum length of a payload in bytes: that of a datagram without the longest header. */
export const MAX_PAYLOAD = 1187

/**
 * The kinds of packets. The first byte of a packet from the relay states its kind. In a packet to the relay, the byte
 * after the tokens does.
 */
export const PING = 1
export const DATA = 2
const MALFORMED = 0
export type PacketKind = typeof PING | typeof DATA | typeof MALFORMED

/** The states in the relay's answers to pings. The state 0, disconnected, is a peer's own and never sent. */
export const relayState = { checking: 1, valid: 2, invalid: 3, timedOut: 4, error: 5 } as const
export type RelayState = (typeof relayState)[keyof typeof relayState]

const SESSION_TOKEN = 4
const KIND = 8
const CONNECTION_ID = 9
/** Length in bytes of the headers of peers' packets. */
const HEADER = { client: 9, server: 13 } as const satisfies Record<Side, number>
/** Length in bytes of the headers of the relay's packets, by the side of the receiving peer. */
export const RELAYED_HEADER = { client: 1, server: 5 } as const satisfies Record<Side, number>

/** Returns the kind of a peer's packet. It is MALFORMED if the datagram's length does not fit the kind. */
export function kindOf(datagram: Buffer, side: Side): PacketKind {
  const { length } = datagram
  if (length < HEADER.client || length > MAX_DATAGRAM) return MALFORMED
  const kind = datagram[KIND]
  if (kind === PING) return length === HEADER.client ? PING : MALFORMED
  return kind === DATA && length >= HEADER[side] ? DATA : MALFORMED
}

/**
 * Converts a token to a key for comparison and lookup. The key is a signed integer, because V8 allocates an object for
 * each unsigned value from 2^31 on.
 */
export const tokenKey = (token: number) => token | 0

export const userTokenKey = (datagram: Buffer) => datagram.readInt32LE(0)
export const sessionTokenKey = (datagram: Buffer) => datagram.readInt32LE(SESSION_TOKEN)

/** Returns the connection id in a host's data packet. */
export const connectionIdOf = (datagram: Buffer) => datagram.readUInt32LE(CONNECTION_ID)

/**
 * Converts a client's data packet, in place, to the packet for its host. Returns the offset at which the new packet
 * begins.
 */
export function forHost(datagram: Buffer, connectionId: number): number {
  const start = HEADER.client - RELAYED_HEADER.server
  datagram[start] = DATA
  datagram.writeUInt32LE(connectionId, start + 1)
  return start
}

/**
 * Converts a host's data packet, in place, to the packet for the client. Returns the offset at which the new packet
 * begins.
 */
export function forClient(datagram: Buffer): number {
  const start = HEADER.server - RELAYED_HEADER.client
  datagram[start] = DATA
  return start
}

const answers = Array.from({ length: relayState.error + 1 }, (_, state) => Buffer.of(PING, state))

/** Returns the relay's answer to a ping. Each state has one shared buffer, which must not be written to. */
export const answerOf = (state: RelayState): Buffer => answers[state] as Buffer

/** Builds the ping by which a peer connects and stays connected. */
export function pingPacket(userToken: number, sessionToken: number): Buffer {
  return header(HEADER.client, userToken, sessionToken, PING)
}

/**
 * Builds a data packet.
 * @param connectionId the client that receives the packet; only for data of a host.
 */
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

/** A packet from the relay: its answer to a ping, or data. The payload is a view of the datagram. */
export type Relayed =
  | { readonly kind: 'state'; readonly state: RelayState }
  | {
      readonly kind: 'data'
      /** The client that sent the data; 0 for data of the host. */
      readonly connectionId: number
      readonly payload: Buffer
    }

/**
 * Parses a packet from the relay; undefined if it is invalid.
 * @param side the side of the peer that receives the packet.
 */
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
