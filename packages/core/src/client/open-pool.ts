import type { Duplex } from 'node:stream'
import type { buildConnector, Dispatcher, Pool } from 'undici'

/** A connection pool that the client owns. */
export interface OpenPool {
  readonly dispatcher: Dispatcher
  /** Closes all connections at once, including those being set up. For use when no caller waits for an answer. */
  close(): Promise<void>
}

/**
 * Opens a pool. undici is loaded here, at the first request, because it takes longer to load than the rest of this
 * package.
 *
 * The pool's own `close` is not used: it waits for connections being set up, up to 10 s for an unanswered handshake.
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

/** undici's connectors return the socket that they set up, which their type omits. */
type Connect = (...given: Parameters<buildConnector.connector>) => Duplex | undefined | void

interface Undici {
  readonly Pool: typeof Pool
  readonly buildConnector: (options: buildConnector.BuildOptions) => Connect
}

async function loadUndici(): Promise<Undici> {
  const undici = await import('undici')
  if (typeof undici.Pool.prototype.dispatch === 'function') return undici
  // Bun replaces undici by its own, which can only fetch. Importing undici's files by path gets the real ones.
  const [pool, connect] = await Promise.all(
    ['undici/lib/dispatcher/pool.js', 'undici/lib/core/connect.js'].map((path) => import(path)),
  )
  return { Pool: pool.default, buildConnector: connect.default }
}
