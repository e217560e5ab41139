import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Side } from './packet.js'

/** A session's two sockets. */
export interface UdpPorts extends Readonly<Record<Side, Socket>> {
  close(): Promise<void>
}

/** For bursts to wait in while the process is busy; the machine may grant less. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024

/**
 * Each session has sockets of its own, rather than all sharing two: so its ports are its alone, as the API's
 * answer has it, a flood at one session fills no other's receive buffer, and what comes late for a session
 * that has ended finds nobody.
 *
 * @param host an IP address.
 * @throws the system's error when there is no port left, or no such address.
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
    // Only addresses are sent to. The usual lookup finds that out too, but a tick later for every packet.
    lookup: (address, _options, found) => found(null, address, family),
  })
  // A process whose work is done ends, even if nobody closes the emulator.
  socket.unref()
  try {
    const listening = once(socket, 'listening')
    socket.bind({ address: host, port: 0, exclusive: true })
    await listening
  } catch (error) {
    await closeSocket(socket)
    throw error
  }
  // The network may say that a peer is gone. Its silence will say so too.
  return socket.on('error', () => {})
}

const closeSocket = (socket: Socket): Promise<void> => new Promise((resolve) => socket.close(resolve))
