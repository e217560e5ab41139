import type { Duplex } from 'node:stream'
import type { buildConnector, Dispatcher, Pool } from 'undici'

/** A pool of connections of the client's own. */
export interface OpenPool {
  readonly dispatcher: Dispatcher
  /**
   * Closes all connections at once, those that are still being set up too. For when nobody waits for an answer any
   * more.
   */
  close(): Promise<void>
}

/**
 * undici is loaded here, at the first request: it takes longer to load than everything else in this package.
 *
 * The pool's own `close` waits for connections that are being set up, a handshake that is never answered for 10 s.
 */
export async function openPool(origin: string, connections: number): Promise<OpenPool> {
  const undici = await loadUndici()
  const connecting = new Set<Duplex>()
  const build: Connect = undici.buildConnector({})
  const connect: buildConnector.connector = (options, callback) => {
    const settled = (...result: Parameters<buildConnector.Callback>) => {
      if (socket !== undefined) connecting.delete(socket)
      callback(...result)
    }
    const socket = build(options, settled)
    if (socket !== undefined) connecting.add(socket)
  }
  const dispatcher = new undici.Pool(origin, { connections, connect })
  return {
    dispatcher,
    close: async () => {
      const destroyed = dispatcher.destroy()
      for (const socket of connecting) socket.destroy()
      await destroyed
    },
  }
}

/** undici's connectors give the socket that they set up, which their type does not say. */
type Connect = (...given: Parameters<buildConnector.connector>) => Duplex | undefined | void

interface Undici {
  readonly Pool: typeof Pool
  readonly buildConnector: (options: buildConnector.BuildOptions) => Connect
}

async function loadUndici(): Promise<Undici> {
  const undici = await import('undici')
  if (typeof undici.Pool.prototype.dispatch === 'function') return undici
  // Bun has an undici of its own, which can only fetch. Its parts by path are the real ones.
  const [pool, connect] = await Promise.all(
    ['undici/lib/dispatcher/pool.js', 'undici/lib/core/connect.js'].map((path) => import(path)),
  )
  return { Pool: pool.default, buildConnector: connect.default }
}
