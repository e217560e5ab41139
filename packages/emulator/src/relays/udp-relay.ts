import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { PacketCounters } from '../counters.js'
import type { RelayDataSettings } from '../settings.js'
import { createTimers, type Surroundings } from '../timers.js'
import { type PacketFault, throughBadNetwork } from './bad-network.js'
import type { Side } from './packet.js'
import { createSessionTraffic, type SendDatagram } from './session-traffic.js'
import { createInvalidTokens } from './traffic-limits.js'

export type RelayData = ReturnType<typeof createUdpRelay>

interface LineOrder {
  /** The session's token. It is secret. */
  readonly token: number
  readonly fault: PacketFault | undefined
}

/** A session on the relay. It has no users at first. */
export interface RelayLine {
  readonly serverPort: number
  readonly clientPort: number
  authorize(user: { readonly token: number; readonly ip: string }): void
  revoke(token: number): void
  /** Returns the number of users who are connected now. */
  connected(): number
  /** Releases the ports. */
  close(): Promise<void>
}

/** A session's two sockets. */
interface UdpPorts extends Readonly<Record<Side, Socket>> {
  close(): Promise<void>
}

/** Size of a receive buffer in bytes. It holds bursts while the process is busy. The system may grant less. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024

/**
 * Opens the two UDP sockets of a session. Sessions do not share sockets, for three reasons. As in the API's response,
 * each session has its own ports. Too many packets for one session do not fill another's receive buffer. Late packets
 * for an ended session do not reach another session.
 *
 * @param host an IP address.
 * @throws the system's error if no port is free or the address does not exist.
 */
async function openUdpPorts(host: string): Promise<UdpPorts> {
  const server = await openSocket(host)
  try {
    const client = await openSocket(host)
    const close = async () => void (await Promise.all([closeSocket(server), closeSocket(client)]))
    return { server, client, close }
  } catch (error) {
    await closeSocket(server)
    throw error
  }
}

async function openSocket(host: string): Promise<Socket> {
  const family = isIPv6(host) ? 6 : 4
  const socket = createSocket({
    type: `udp${family}`,
    recvBufferSize: RECEIVE_BUFFER_BYTES,
    // All receivers are IP addresses, so nothing is looked up. The default lookup would delay every packet by a tick.
    lookup: (address, _options, found) => found(null, address, family),
  })
  // Unreferenced, so that an emulator that was not closed does not keep the process alive.
  socket.unref()
  try {
    const listening = once(socket, 'listening')
    socket.bind({ address: host, port: 0, exclusive: true })
    await listening
  } catch (error) {
    await closeSocket(socket)
    throw error
  }
  // Errors are ignored. The network may report that a peer is unreachable, which the peer's silence shows too.
  return socket.on('error', () => {})
}

const closeSocket = (socket: Socket): Promise<void> => new Promise((resolve) => socket.close(resolve))

interface UdpRelayDeps extends Omit<Surroundings, 'timers'> {
  readonly counters: PacketCounters
}

/** Maximum number of bytes that wait to be sent at one port. Further packets are dropped. */
const SEND_QUEUE_BYTES = 1024 * 1024

/** Creates the relay that carries the packets of all sessions. Durations of the peers' protocol are not sped up. */
export function createUdpRelay(settings: RelayDataSettings, { clock, random, speed, counters }: UdpRelayDeps) {
  const lines = new Set<RelayLine>()
  const sessionSettings = { ...settings, authDelayMs: settings.authDelayMs / speed }
  const invalidTokens = createInvalidTokens()
  let closed = false

  const sendFrom =
    (ports: UdpPorts): SendDatagram =>
    (side, datagram, start, { port, address }) => {
      const socket = ports[side]
      if (socket.getSendQueueSize() > SEND_QUEUE_BYTES) counters.dropped.sendQueue++
      // A view is created here, because with an offset and a length the socket would check both and take longer.
      else socket.send(start === 0 ? datagram : datagram.subarray(start), port, address)
    }

  const createLine = (ports: UdpPorts, { token, fault }: LineOrder): RelayLine => {
    const timers = createTimers(clock, 1)
    const direct = sendFrom(ports)
    const send = fault === undefined ? direct : throughBadNetwork(fault, { random, timers, counters }, direct)
    const own = { sessionToken: token, settings: sessionSettings, counters, invalidTokens, send }
    const traffic = createSessionTraffic(own)
    for (const side of ['server', 'client'] as const)
      ports[side].on('message', (datagram, from) => traffic.receive(side, datagram, from, clock.now()))

    const line: RelayLine = {
      serverPort: ports.server.address().port,
      clientPort: ports.client.address().port,
      authorize: traffic.authorize,
      revoke: traffic.revoke,
      connected: () => traffic.connected(clock.now()),
      close: async () => {
        if (!lines.delete(line)) return
        timers.close()
        await ports.close()
      },
    }
    lines.add(line)
    return line
  }

  return {
    /** The relay's IP address for peers. */
    ip: settings.publicIp,
    /** Opens a session's two ports. Resolves with undefined if no ports are free, and after `close`. */
    open: async (order: LineOrder): Promise<RelayLine | undefined> => {
      // All failures are handled alike, because they all mean that no relay is available.
      const ports = await openUdpPorts(settings.host).catch(() => undefined)
      if (ports === undefined) return undefined
      if (!closed) return createLine(ports, order)
      await ports.close()
      return undefined
    },
    /** Closes the ports of all sessions. */
    close: async () => {
      closed = true
      await Promise.all(Array.from(lines, (line) => line.close()))
    },
  }
}
