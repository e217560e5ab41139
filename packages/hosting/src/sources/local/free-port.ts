import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { NoCapacity } from '@muster/core'
import type { Random } from '@muster/core/clock'

export interface PortRange {
  readonly from: number
  readonly to: number
}

/**
 * Returns a port of the range that is free for UDP and TCP. The search starts at a random port.
 * @param taken ports that other servers will use, even if they do not listen yet
 * @throws {NoCapacity} if no port is free
 */
export async function drawPort({ from, to }: PortRange, taken: ReadonlySet<number>, random: Random): Promise<number> {
  const count = to - from + 1
  const first = Math.floor(random() * count)
  for (let nth = 0; nth < count; nth += 1) {
    const port = from + ((first + nth) % count)
    if (!taken.has(port) && (await isFree(port))) return port
  }
  throw new NoCapacity(`allocate: no port from ${from} to ${to} is free`, { operation: 'allocate' })
}

const isFree = async (port: number) => (await bindsUdp(port)) && (await listensTcp(port))

const bindsUdp = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', () => resolve(false))
    socket.bind({ port, exclusive: true }, () => socket.close(() => resolve(true)))
  })

const listensTcp = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '0.0.0.0', exclusive: true }, () => server.close(() => resolve(true)))
  })
