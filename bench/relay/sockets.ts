import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

/** Size of a receive buffer in bytes. It is so large that the load's own sockets lose no packets. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024

/** Opens a UDP socket on this machine, to which anybody may send. */
export async function openSocket(): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES })
  await once(socket.bind(0, '127.0.0.1'), 'listening')
  return socket
}

/** Opens a UDP socket that sends to and receives from only this port. */
export async function connectedTo(port: number): Promise<Socket> {
  const socket = await openSocket()
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

const PATIENCE_MS = 100
const ATTEMPTS = 50

/** Repeats a question until an answer arrives. */
export async function ask(socket: Socket, question: Buffer, isAnswer: (datagram: Buffer) => boolean): Promise<Buffer> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    socket.send(question)
    const signal = AbortSignal.timeout(PATIENCE_MS)
    while (!signal.aborted) {
      const [datagram] = (await once(socket, 'message', { signal }).catch(() => [])) as Buffer[]
      if (datagram !== undefined && isAnswer(datagram)) return datagram
    }
  }
  throw new Error('there is no answer')
}
