import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { PeerError } from './peer-error.js'

/**
 * Opens a UDP socket that receives from the relay alone.
 * @throws PeerError `unreachable`.
 */
export async function openPeerSocket(host: string, port: number): Promise<Socket> {
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
  // Errors are ignored: some systems report that nothing listens at the port, and the relay's silence shows the same.
  return socket.on('error', () => {})
}
