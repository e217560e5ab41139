import { createServer, connect, type Socket } from 'node:net'
import { once } from 'node:events'

/** The state of the connection: it works, is refused, or nothing arrives any more. */
export type Weather = 'fair' | 'refused' | 'black hole'

/** A proxy of a service that can be cut off. */
export async function createProxy(target: string) {
  const { port, hostname } = new URL(target)
  const sockets = new Set<Socket>()
  let weather: Weather = 'fair'
  const server = createServer((inner) => {
    sockets.add(inner)
    inner.on('close', () => sockets.delete(inner)).on('error', () => {})
    if (weather === 'refused') return void inner.resetAndDestroy()
    if (weather === 'black hole') return void inner.pause()
    const outer = connect(Number(port), hostname)
    sockets.add(outer)
    outer.on('close', () => {
      sockets.delete(outer)
      inner.destroy()
    })
    outer.on('error', () => {})
    inner.on('close', () => outer.destroy())
    inner.pipe(outer).pipe(inner)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as { readonly port: number }

  return {
    url: `http://127.0.0.1:${address.port}`,
    /** Open connections are cut, except for a black hole, where they just stop. */
    turn: (next: Weather) => {
      if (next === 'black hole') {
        for (const socket of sockets) socket.unpipe().pause()
      } else {
        for (const socket of sockets) socket.resetAndDestroy()
      }
      weather = next
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
