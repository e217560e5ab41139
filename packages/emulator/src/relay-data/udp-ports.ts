import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Side } from './packet.js'

/** A session's two sockets. */
export interface UdpPorts extends Readonly<Record<Side, Socket>> {
  close(): Promise<void>
}

/** Size of a receive buffer, which holds bursts while the process is busy; the system may grant less. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024

/**
 * Opens a session's two UDP sockets. Sessions do not share sockets: each has ports of its own, as the API's answer
 * shows, a flood at one session fills no other's receive buffer, and late packets for a session that has ended reach no
 * other.
 *
 * @param host an IP address.
 * @throws the system's error when no port is free, or the address does not exist.
 */
export async function openUdpPorts(host: string): Promise<UdpPorts> {
  const server = await openSocket(host)
  try {
    const client = await openSocket(host)
    return {
      server,
      client,
      close: async () => {
        await Promise.all([closeSocket(server), closeSocket(client)])
      },
    }
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
    // Packets are sent only to IP addresses. The default lookup would delay every packet by a tick.
    lookup: (address, _options, found) => found(null, address, family),
  })
  // The socket does not keep the process alive if nobody closes the emulator.
  socket.unref()
  try {
    const listening = once(socket, 'listening')
    socket.bind({ address: host, port: 0, exclusive: true })
    await listening
  } catch (error) {
    await closeSocket(socket)
    throw error
  }
  // Errors are ignored: the network may report that a peer is gone, and the peer's silence shows the same.
  return socket.on('error', () => {})
}

const closeSocket = (socket: Socket): Promise<void> => new Promise((resolve) => socket.close(resolve))
