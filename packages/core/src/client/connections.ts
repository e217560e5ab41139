import type { Dispatcher } from 'undici'
import type { ClientDispatcher } from './in-process.js'
import { type OpenPool, openPool } from './open-pool.js'

/** Connections to one origin, grouped by lane, so that slow calls in one lane do not delay calls in another. */
export interface Connections {
  of(lane: string): ClientDispatcher | Promise<ClientDispatcher>
  /** Whether the request being written is the first on its connection. Only valid while a request is being written. */
  isFresh(): boolean
  /** Closes the client's own connections. An injected dispatcher is left to its owner. */
  close(): Promise<void>
}

export interface ConnectionOptions {
  /** Scheme, host and port. */
  readonly origin: string
  /** Most connections kept in each lane. */
  readonly connections: number
  /** Replaces the client's own pools, in all lanes. */
  readonly dispatcher?: ClientDispatcher | undefined
}

export function createConnections({ origin, connections, dispatcher: injected }: ConnectionOptions): Connections {
  const opening = new Map<string, Promise<OpenPool>>()
  const pools = new Map<string, Dispatcher>()
  /** undici reports a new connection and writes the first request in the same turn of the event loop. */
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
