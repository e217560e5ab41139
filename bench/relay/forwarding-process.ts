/**
 * The minimum work of any relay on `node:dgram`, in a process of its own. It has as many sockets as the emulator's
 * relay. Each forwards every datagram, without reading it, to one address. The relay is compared with it.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { ForwardedPorts, RelaySpent } from './messages.js'

const PAIRS = 8
const HOST = '127.0.0.1'
/** The receive buffer is as large as the relay's. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024

async function openSocket(): Promise<Socket> {
  const socket = createSocket({
    type: 'udp4',
    recvBufferSize: RECEIVE_BUFFER_BYTES,
    // Addresses are numeric, so nothing is looked up. The default lookup would delay every packet.
    lookup: (address, _options, found) => found(null, address, 4),
  })
  const listening = once(socket, 'listening')
  socket.bind(0, HOST)
  await listening
  return socket
}

async function openPair(): Promise<ForwardedPorts> {
  const server = await openSocket()
  const client = await openSocket()
  server.once('message', (hello, { port, address }) => {
    client.on('message', (datagram) => server.send(datagram, port, address))
    server.send(hello, port, address)
  })
  return { serverPort: server.address().port, clientPort: client.address().port }
}

process.send?.(await Promise.all(Array.from({ length: PAIRS }, openPair)))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const spent: RelaySpent = { cpuMicroseconds: user + system }
  process.send?.(spent)
})
process.on('disconnect', () => process.exit())
