import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:dgram'
import { ask } from './sockets.js'

/**
 * A minimal TURN client (RFC 8656) for a server without credentials: it opens an allocation, and a channel to a port of
 * this machine.
 */

const COOKIE = 0x2112_a442
const ALLOCATE = 0x0003
const CHANNEL_BIND = 0x0009
const SUCCESS = 0x0100
const REQUESTED_TRANSPORT = 0x0019
const CHANNEL_NUMBER = 0x000c
const XOR_PEER_ADDRESS = 0x0012
const UDP = 17
const IPV4 = 1
const LOOPBACK = 0x7f00_0001
const CHANNEL = 0x4000

/** Opens a channel to a port of this machine. @throws Error if the server refuses. */
export async function openChannel(socket: Socket, peerPort: number): Promise<void> {
  await request(socket, ALLOCATE, [attribute(REQUESTED_TRANSPORT, [UDP, 0, 0, 0])])
  const peer = Buffer.alloc(8)
  peer[1] = IPV4
  peer.writeUInt16BE(peerPort ^ (COOKIE >>> 16), 2)
  peer.writeUInt32BE((LOOPBACK ^ COOKIE) >>> 0, 4)
  await request(socket, CHANNEL_BIND, [
    attribute(CHANNEL_NUMBER, [CHANNEL >>> 8, 0, 0, 0]),
    attribute(XOR_PEER_ADDRESS, peer),
  ])
}

/** Returns the header before the payload, in a datagram of this size. */
export function channelHeader(size: number): Buffer {
  const header = Buffer.alloc(4)
  header.writeUInt16BE(CHANNEL)
  header.writeUInt16BE(size - header.length, 2)
  return header
}

async function request(socket: Socket, method: number, attributes: readonly Buffer[]): Promise<void> {
  const body = Buffer.concat(attributes)
  const header = Buffer.alloc(20)
  header.writeUInt16BE(method)
  header.writeUInt16BE(body.length, 2)
  header.writeUInt32BE(COOKIE, 4)
  const transaction = randomBytes(12)
  transaction.copy(header, 8)
  const isAnswer = (datagram: Buffer) => datagram.length >= 20 && datagram.subarray(8, 20).equals(transaction)
  const answer = await ask(socket, Buffer.concat([header, body]), isAnswer)
  if (answer.readUInt16BE() !== (method | SUCCESS)) throw new Error('the TURN server refuses')
}

function attribute(type: number, value: Uint8Array | readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + value.length)
  bytes.writeUInt16BE(type)
  bytes.writeUInt16BE(value.length, 2)
  bytes.set(value, 4)
  return bytes
}
