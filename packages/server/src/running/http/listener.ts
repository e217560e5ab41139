import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Clock, systemClock } from '@muster/core/clock'
import type { Config } from '../../config/index.js'
import type { Log } from '../../telemetry/log.js'
import { createAcceptQueue } from './accept-queue.js'
import { type ConnectionCounts, createConnections } from './connections.js'
import type { Mounts } from './mounts.js'

interface InTurnOptions {
  readonly onRequest: RequestListener
  /** Ends a connection on which more requests wait than may. */
  readonly end: (socket: Socket) => void
  /** Requests of a connection that may wait for the answers before theirs. Default 64. */
  readonly most?: number | undefined
}

/** More than clients pipeline that do: undici takes 10 at most as advised, and proxies do not (our choice). */
const MOST_WAITING = 64

/** What a connection has under way and waiting. */
interface Line {
  isBusy: boolean
  readonly waiting: { readonly message: IncomingMessage; readonly response: ServerResponse }[]
}

/**
 * Answers the requests of a connection one after another, each in a turn of the event loop of its own.
 *
 * node:http hands over all requests of a piece of 64 KiB within one turn: a few hundred pipelined connections would
 * keep everybody else waiting for seconds. Its responses emit `close` only once it is their turn, too: what was begun
 * behind an unanswered request would never be known to have ended.
 *
 * A connection is ended on which more requests wait than may: each of them takes memory.
 */
function inTurn({ onRequest, end, most = MOST_WAITING }: InTurnOptions): RequestListener {
  const lines = new WeakMap<Socket, Line>()

  const begin = (line: Line, message: IncomingMessage, response: ServerResponse): void => {
    line.isBusy = true
    // Answered within the turn, the rest of the piece may still come within it.
    response.once('close', () => setImmediate(goOn, line, message.socket))
    onRequest(message, response)
  }
  const goOn = (line: Line, socket: Socket): void => {
    // It was ended, or ends with the last answer.
    if (!socket.writable) return void line.waiting.splice(0)
    // Whoever pauses a connection does not want its next request either.
    if (socket.isPaused()) return void socket.once('resume', () => goOn(line, socket))
    const next = line.waiting.shift()
    if (next === undefined) line.isBusy = false
    else begin(line, next.message, next.response)
  }

  return (message, response) => {
    const { socket } = message
    // What follows in the same piece is handed over all the same.
    if (socket.destroyed) return
    let line = lines.get(socket)
    if (line === undefined) lines.set(socket, (line = { isBusy: false, waiting: [] }))
    if (!line.isBusy) return begin(line, message, response)
    if (line.waiting.length < most) return void line.waiting.push({ message, response })
    line.waiting.length = 0
    end(socket)
  }
}

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
  /** Milliseconds that new connections wait in the kernel's queue at most. */
  readonly queuedMs: () => number
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
  const { clock = systemClock } = options
  const connections = createConnections<Socket>({
    most: options.mostConnections,
    beyond: options.beyond ?? 0,
    perAddress: options.mostPerAddress,
    end: (socket) => socket.destroy(),
    onCrowded: options.onCrowded ?? (() => {}),
    clock,
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
  const queue = createAcceptQueue(clock)
  server.on('connection', (socket: Socket) => {
    queue.accepted()
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
    queuedMs: queue.waitMs,
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

/** The most files and sockets that this process may have open at once; undefined where the system does not tell. */
export async function descriptorLimit(path = '/proc/self/limits'): Promise<number | undefined> {
  const limits = await readFile(path, 'utf8').catch(() => '')
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}

/** Connections besides waits: for answers, and of clients between two of them (our choice). */
const MORE_CONNECTIONS = 10_000
/** Most long polls and event streams, where the configuration says nothing: the ticket API's own default. */
const WAITS = 50_000
/** Connections of one address, where addresses are known, and as a part of the bound at most (our choice). */
const MOST_PER_ADDRESS = 2000
const PART_PER_ADDRESS = 1 / 8
/** Connections beyond the bound, on which operators are answered (our choice). */
const BEYOND = 100
/** File descriptors that are kept for files, Redis, the deployment service and operators (our choice). */
const KEPT_DESCRIPTORS = 300

/** Behind proxies, many players come from one address. A connection needs a file descriptor. */
export function listenerBounds({ limits, addresses }: Config, descriptors: number | undefined) {
  const wanted = (limits.waits ?? WAITS) + MORE_CONNECTIONS
  const possible = descriptors === undefined ? Infinity : Math.max(BEYOND, descriptors - KEPT_DESCRIPTORS - BEYOND)
  const mostConnections = Math.min(wanted, possible)
  return {
    mostConnections,
    beyond: BEYOND,
    mostPerAddress:
      addresses.trustedProxies.length > 0
        ? undefined
        : Math.min(MOST_PER_ADDRESS, Math.ceil(mostConnections * PART_PER_ADDRESS)),
    /** The configured bound, where file descriptors allow fewer. */
    wanted: mostConnections < wanted ? wanted : undefined,
  }
}

interface ListenersOptions {
  readonly config: Config
  /** What is served now. */
  readonly mounts: () => Mounts
  readonly log: Log
  readonly clock: Clock
  /** Whether this is `muster dev`, where nobody needs as many connections as can be had. */
  readonly isDev: boolean
}

/** Connections of those who run the program: probes, scrapes, consoles (our choice). */
const MOST_ADMIN = 200

/** Opens the listener of players, and that of those who run the program if there is one: both, or none. */
export async function openListeners({ config, mounts, log, clock, isDev }: ListenersOptions): Promise<Listener> {
  const { listen } = config
  const bounds = listenerBounds(config, await descriptorLimit())
  if (bounds.wanted !== undefined && !isDev)
    log.warn(
      `file descriptors are fewer than the connections that limits.waits allows: ${bounds.mostConnections} of ` +
        `${bounds.wanted} are taken. Raise the limit (ulimit -n, LimitNOFILE), or lower limits.waits`,
    )
  const players = await openListener({
    ...bounds,
    host: listen.host,
    port: listen.port,
    onRequest: (...request) => mounts().all(...request),
    onRequestBeyond: (...request) => mounts().beyond(...request),
    onCrowded: (counts) => log.warn(crowded(counts, bounds.mostConnections)),
    clock,
  })
  if (listen.admin === undefined) return players
  try {
    const admin = await openListener({
      ...listen.admin,
      onRequest: (...request) => mounts().admin(...request),
      mostConnections: MOST_ADMIN,
      mostPerAddress: undefined,
      clock,
    })
    return both(players, admin)
  } catch (error) {
    await players.close()
    throw error
  }
}

/** Counts only: lines never hold addresses. */
const crowded = (counts: ConnectionCounts, most: number) =>
  `too many connections: ${counts.open} of ${most} are open, ${counts.largest} of one address or /48. ` +
  `Since the start ${counts.idleEnded} idle and ${counts.busyEnded} busy ones were ended in favour of others, ` +
  `${counts.pipelinedEnded} because too many requests waited on them, and ${counts.refused} were refused`

const both = (players: Listener, admin: Listener): Listener => ({
  ...players,
  adminUrl: admin.url,
  close: async () => void (await Promise.all([players.close(), admin.close()])),
  destroy: () => {
    players.destroy()
    admin.destroy()
  },
})
