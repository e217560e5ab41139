import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to a server that can be closed: the connections break, and new ones are broken at once. */
export interface Gate {
  readonly url: string
  shut(): void
  open(): void
  /** From now on new connections go to another port. */
  turnTo(port: number): void
  /** From now on nothing passes by the connections that there are, which stay open. New ones work. */
  freeze(): void
  /** Ends the gate itself. */
  close(): Promise<void>
}

export async function openGate(first: number): Promise<Gate> {
  let port = first
  const sockets = new Set<Socket>()
  let isShut = false
  const server = createServer((near) => {
    if (isShut) return void near.destroy()
    const far = createConnection({ port, host: '127.0.0.1' })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut: () => {
      isShut = true
      breakAll()
    },
    open: () => {
      isShut = false
    },
    turnTo: (next) => {
      port = next
    },
    freeze: () => {
      for (const socket of sockets) socket.unpipe().pause()
    },
    close: async () => {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
