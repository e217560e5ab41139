import { createServer, connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { Transform } from 'node:stream'
import { systemClock } from '@muster/core/clock'

/**
 * State of the connection. `fair`: it works. `slow`: each chunk is delayed. `refused`: connections are refused. `black
 * hole`: nothing arrives. `deaf`: requests arrive, but responses are lost.
 */
export type Weather = 'fair' | 'slow' | 'refused' | 'black hole' | 'deaf'

/** Milliseconds by which each chunk is delayed while the connection is slow. */
const SLOW_MS = 150

/** Starts a proxy of a service whose connections can be disturbed. */
export async function createProxy(target: string) {
  const { port, hostname } = new URL(target)
  const sockets = new Set<Socket>()
  let weather: Weather = 'fair'
  /** Passes one direction of a connection on. Chunks stay in order. */
  const way = (answers: boolean) =>
    new Transform({
      transform: (piece: Buffer, _encoding, done) => {
        if (weather === 'slow') void systemClock.sleep(SLOW_MS).then(() => done(null, piece))
        else if (weather === 'deaf' && answers) done()
        else done(null, piece)
      },
    })
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
    inner.pipe(way(false)).pipe(outer).pipe(way(true)).pipe(inner)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as { readonly port: number }

  return {
    url: `http://127.0.0.1:${address.port}`,
    /**
     * Changes the state. `refused` and `fair` close all open connections. `black hole` leaves them open but stops the
     * traffic.
     */
    turn: (next: Weather) => {
      if (next === 'black hole') {
        for (const socket of sockets) socket.unpipe().pause()
      } else if (next === 'fair' || next === 'refused') {
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
