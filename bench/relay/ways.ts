import type { Socket } from 'node:dgram'
import type { ForwardedPorts, RelaySessionInfo, Way } from './messages.js'
import { ask, connectedTo, openSocket } from './sockets.js'
import { channelHeader, openChannel } from './turn.js'

/** Open sockets between which packets are sent: eight groups of one receiver and three senders. */
export interface OpenWay {
  readonly senders: readonly Sender[]
  readonly receivers: readonly Socket[]
  /** Offset of the payload in received datagrams. */
  readonly receivedAt: number
}

export interface Sender {
  readonly socket: Socket
  /** Returns the header before the payload, in a datagram of this size. */
  readonly header: (size: number) => Buffer
}

const GROUPS = 8
const SENDERS = 3
const PING_MS = 500

export function openWay(way: Way): Promise<OpenWay> {
  if (way.kind === 'relay') return openRelay(way.sessions)
  if (way.kind === 'forwarding') return openForwarding(way.ports)
  return way.kind === 'direct' ? openDirect() : openTurn(way.port)
}

async function openDirect(): Promise<OpenWay> {
  return grouped(async (receiverPort) => ({ socket: await connectedTo(receiverPort), header: () => Buffer.alloc(0) }))
}

/**
 * Opens the way through plain forwarding. The receiver's first datagram tells the forwarder its address, and comes
 * back.
 */
async function openForwarding(ports: readonly ForwardedPorts[]): Promise<OpenWay> {
  const hello = Buffer.from('hello')
  const receivers: Socket[] = []
  const senders: Sender[] = []
  for (const { serverPort, clientPort } of ports) {
    const receiver = await connectedTo(serverPort)
    await ask(receiver, hello, (datagram) => datagram.equals(hello))
    receivers.push(receiver)
    for (let sender = 0; sender < SENDERS; sender += 1)
      senders.push({ socket: await connectedTo(clientPort), header: () => Buffer.alloc(0) })
  }
  return { senders, receivers, receivedAt: 0 }
}

async function openTurn(turnPort: number): Promise<OpenWay> {
  return grouped(async (receiverPort) => {
    const socket = await connectedTo(turnPort)
    await openChannel(socket, receiverPort)
    return { socket, header: channelHeader }
  })
}

async function grouped(openSender: (receiverPort: number) => Promise<Sender>): Promise<OpenWay> {
  const receivers = await Promise.all(Array.from({ length: GROUPS }, openSocket))
  const opening = receivers.flatMap((receiver) =>
    Array.from({ length: SENDERS }, () => openSender(receiver.address().port)),
  )
  const senders = await Promise.all(opening)
  return { senders, receivers, receivedAt: 0 }
}

async function openRelay(sessions: readonly RelaySessionInfo[]): Promise<OpenWay> {
  const receivers: Socket[] = []
  const senders: Sender[] = []
  const pings: { readonly socket: Socket; readonly ping: Buffer }[] = []
  const valid = Buffer.of(1, 2)
  for (const { token, userTokens, serverPort, clientPort } of sessions) {
    for (const [index, userToken] of userTokens.entries()) {
      const socket = await connectedTo(index === 0 ? serverPort : clientPort)
      const ping = relayHeader(userToken, token, 1)
      await ask(socket, ping, (datagram) => datagram.equals(valid))
      pings.push({ socket, ping })
      if (index === 0) receivers.push(socket)
      else senders.push({ socket, header: () => relayHeader(userToken, token, 2) })
    }
  }
  setInterval(() => {
    for (const { socket, ping } of pings) socket.send(ping)
  }, PING_MS).unref()
  return { senders, receivers, receivedAt: 5 }
}

function relayHeader(userToken: number, sessionToken: number, kind: number): Buffer {
  const header = Buffer.alloc(9)
  header.writeUInt32LE(userToken)
  header.writeUInt32LE(sessionToken, 4)
  header[8] = kind
  return header
}
