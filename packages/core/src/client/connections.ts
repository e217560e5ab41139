import type { Dispatcher } from 'undici'
import type { ClientDispatcher } from './in-process.js'
import { type OpenPool, openPool } from './open-pool.js'

/** Connections to one origin, by lane: what is slow in one holds up nothing in another. */
export interface Connections {
  of(lane: string): ClientDispatcher | Promise<ClientDispatcher>
  /** For use while a request is being written: whether it is the first on its connection. */
  isFresh(): boolean
  /** Closes its own connections; those of an injected dispatcher are its owner's. */
  close(): Promise<void>
}

export interface ConnectionOptions {
  /** Scheme, host and port. */
  readonly origin: string
  /** Connections kept at most in each lane. */
  readonly connections: number
  /** In place of own pools, for all lanes. */
  readonly dispatcher?: ClientDispatcher | undefined
}

export function createConnections({ origin, connections, dispatcher: injected }: ConnectionOptions): Connections {
  const opening = new Map<string, Promise<OpenPool>>()
  const pools = new Map<string, Dispatcher>()
  /** undici tells of a connection, and writes the first request in the same turn. */
  let opened = false
  const noteOpened = () => {
    opened = true
    queueMicrotask(() => {
      opened = false
    })
  }
  const tells = injected !== undefined && 'on' in injected ? (injected as Dispatcher) : undefined
  tells?.on('connect', noteOpened)

  const open = async (lane: string): Promise<Dispatcher> => {
    const pool = opening.get(lane) ?? openPool(origin, connections)
    if (!opening.has(lane))
      pool.then(
        ({ dispatcher }) => pools.set(lane, dispatcher.on('connect', noteOpened)),
        () => {},
      )
    opening.set(lane, pool)
    return (await pool).dispatcher
  }

  return {
    of: (lane) => injected ?? pools.get(lane) ?? open(lane),
    isFresh: () => opened,
    close: async () => {
      tells?.off('connect', noteOpened)
      await Promise.all(Array.from(opening.values(), async (pool) => (await pool).close()))
    },
  }
}
