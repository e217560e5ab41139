import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy to a server that can be closed: its connections break, and new ones break immediately. */
export interface Gate {
  readonly url: string
  shut(): void
  open(): void
  /** Directs new connections to another port. */
  turnTo(port: number): void
  /** Lets nothing pass on the existing connections, which stay open. New ones work. */
  freeze(): void
  /** Lets nothing pass on any connection. All stay open. */
  hold(): void
  /** Lets requests pass and loses the replies. */
  deafen(): void
  /** Ends the gate itself. */
  close(): Promise<void>
}

export async function openGate(first: number): Promise<Gate> {
  let port = first
  const sockets = new Set<Socket>()
  /** The sockets to Redis. */
  const answering = new Set<Socket>()
  let state: 'open' | 'shut' | 'held' | 'deaf' = 'open'
  const server = createServer((near) => {
    if (state === 'shut') return void near.destroy()
    const far = createConnection({ port, host: '127.0.0.1' })
    answering.add(far)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        answering.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    if (state !== 'held') near.pipe(far)
    if (state === 'deaf') far.resume()
    else far.pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const freeze = () => {
    for (const socket of sockets) socket.unpipe().pause()
  }
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut: () => {
      state = 'shut'
      breakAll()
    },
    open: () => {
      // The connections are broken, because bytes that were held or lost would never arrive.
      if (state === 'held' || state === 'deaf') breakAll()
      state = 'open'
    },
    turnTo: (next) => {
      port = next
    },
    freeze,
    hold: () => {
      state = 'held'
      freeze()
    },
    deafen: () => {
      state = 'deaf'
      for (const socket of answering) socket.unpipe().resume()
    },
    close: async () => {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
