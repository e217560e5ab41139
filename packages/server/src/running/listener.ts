import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { addressBlock } from '@muster/core/http'

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  readonly onRequest: RequestListener
  /** Most connections at once: a stream or a long poll is one. */
  readonly mostConnections: number
  /** Most connections of one IPv4 address or IPv6 /64; undefined where all come from a proxy's address. */
  readonly mostPerAddress: number | undefined
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
  readonly port: number
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
  const { host, port, onRequest, mostConnections, mostPerAddress, headersTimeoutMs = HEADERS_TIMEOUT_MS } = options
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersTimeoutMs,
      requestTimeout: Math.max(REQUEST_TIMEOUT_MS, headersTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.ceil(headersTimeoutMs / 4),
    },
    onRequest,
  )
  server.maxConnections = mostConnections
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET
  if (mostPerAddress !== undefined) boundPerAddress(server, mostPerAddress)
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
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
    destroy: () => server.closeAllConnections(),
  }
}

/** Ends connections beyond the bound at once: one address must not take all there are. */
function boundPerAddress(server: Server, most: number): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const from = addressBlock(socket.remoteAddress ?? '')
    const count = (counts.get(from) ?? 0) + 1
    if (count > most) return void socket.destroy()
    counts.set(from, count)
    socket.once('close', () => {
      const left = (counts.get(from) ?? 1) - 1
      if (left === 0) counts.delete(from)
      else counts.set(from, left)
    })
  })
}

/** How this machine reaches the host it listens on. */
function nameOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
