import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { PeerError } from './peer-error.js'

/**
 * A socket that hears the relay alone.
 * @throws PeerError `unreachable`
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
  // Nobody at the port, as the system sometimes finds out: the relay's silence will say so too.
  return socket.on('error', () => {})
}
