import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { systemClock, type Clock } from '@muster/core/clock'
import { createConnections, type ConnectionCounts } from './connections.js'
import { inTurn } from './in-turn.js'

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  readonly onRequest: RequestListener
  /** Answers on connections that were taken beyond the bound. Default: as `onRequest`. */
  readonly onRequestBeyond?: RequestListener | undefined
  /** Most connections at once: a stream or a long poll is one. */
  readonly mostConnections: number
  /** Connections that are taken beyond the bound. Default none. */
  readonly beyond?: number | undefined
  /** See `ConnectionsOptions.perAddress`. */
  readonly mostPerAddress: number | undefined
  /** See `ConnectionsOptions.onCrowded`. */
  readonly onCrowded?: ((counts: ConnectionCounts) => void) | undefined
  readonly clock?: Clock | undefined
  /** See `ConnectionsOptions.freshMs`. */
  readonly freshMs?: number | undefined
  /** For tests: how long headers may take. Default 10,000 ms. */
  readonly headersTimeoutMs?: number | undefined
}

/** What a client may take (our choice, as docs/serving-players.md advises). */
const MAX_HEADER_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** Longer than proxies keep their connections, or they get resets. */
const KEEP_ALIVE_MS = 65_000
const REQUESTS_PER_SOCKET = 10_000

/** A server that listens. */
export interface Listener {
  /** With the port that was taken, if any could be. */
  readonly url: string
  /** Of the listener of those who run the program, if there is one. */
  readonly adminUrl?: string | undefined
  readonly port: number
  readonly connections: () => ConnectionCounts
  /** Takes no more connections, and resolves when the last one has ended. */
  readonly close: () => Promise<void>
  /** Ends all connections, whatever they are for. */
  readonly destroy: () => void
}

/**
 * Listens, within bounds for slow and many clients. A connection that sends nothing is ended as one with slow headers.
 * Rejects, as node:net does, if the address cannot be had.
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { host, port, onRequest, onRequestBeyond = onRequest, headersTimeoutMs = HEADERS_TIMEOUT_MS } = options
  const connections = createConnections<Socket>({
    most: options.mostConnections,
    beyond: options.beyond ?? 0,
    perAddress: options.mostPerAddress,
    end: (socket) => socket.destroy(),
    onCrowded: options.onCrowded ?? (() => {}),
    clock: options.clock ?? systemClock,
    freshMs: options.freshMs,
  })
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersTimeoutMs,
      requestTimeout: Math.max(REQUEST_TIMEOUT_MS, headersTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.ceil(headersTimeoutMs / 4),
    },
    inTurn({
      onRequest: (message, response) => {
        const { socket } = message
        response.once('close', connections.begin(socket))
        return connections.isBeyond(socket) ? onRequestBeyond(message, response) : onRequest(message, response)
      },
      end: connections.endPipelined,
    }),
  )
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET
  server.on('connection', (socket: Socket) => {
    if (!connections.open(socket, socket.remoteAddress)) return void socket.destroy()
    socket.once('close', () => connections.closed(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const taken = (server.address() as AddressInfo).port
  return {
    url: `http://${nameOf(host)}:${taken}`,
    port: taken,
    connections: connections.counts,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
    destroy: () => server.closeAllConnections(),
  }
}

/** How this machine reaches the host it listens on. */
function nameOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
