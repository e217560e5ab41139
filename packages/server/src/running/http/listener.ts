import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Clock, systemClock } from '@muster/core/clock'
import type { Config } from '../../config/index.js'
import type { Log } from '../../telemetry/log.js'
import { createAcceptQueue } from './accept-queue.js'
import { type ConnectionBounds, type ConnectionCounts, createConnections } from './connections.js'
import type { Mounts } from './mounts.js'

interface InTurnOptions {
  readonly onRequest: RequestListener
  /** Ends a connection on which too many requests wait. */
  readonly end: (socket: Socket) => void
}

/**
 * Maximum number of requests of a connection that wait for earlier responses (our choice). Pipelining clients send
 * fewer: undici recommends at most 10, and proxies do not pipeline.
 */
const MOST_WAITING = 64

/** The state of a connection: whether a request is being answered, and the requests that wait. */
interface ConnectionQueue {
  isBusy: boolean
  readonly waiting: { readonly message: IncomingMessage; readonly response: ServerResponse }[]
}

/**
 * Handles the requests of a connection one after another, each in its own turn of the event loop.
 *
 * Otherwise, node:http would emit all requests in a piece of 64 KiB within one turn. A few hundred pipelined
 * connections would then delay all other clients for seconds. Also, a pipelined response emits `close` only after all
 * earlier responses, so the end of its work would be noticed late.
 *
 * A connection with too many waiting requests is ended, because each of them takes memory.
 */
function inTurn({ onRequest, end }: InTurnOptions): RequestListener {
  const lines = new WeakMap<Socket, ConnectionQueue>()

  const begin = (line: ConnectionQueue, message: IncomingMessage, response: ServerResponse): void => {
    line.isBusy = true
    // Waits for the next turn, because node:http may still emit further requests of the same 64 KiB in this turn.
    response.once('close', () => setImmediate(goOn, line, message.socket))
    onRequest(message, response)
  }
  const goOn = (line: ConnectionQueue, socket: Socket): void => {
    // If the connection has ended, or ends with the last response, the waiting requests are dropped.
    if (!socket.writable) return void line.waiting.splice(0)
    // While a connection is paused, its next request must not start either.
    if (socket.isPaused()) return void socket.once('resume', () => goOn(line, socket))
    const next = line.waiting.shift()
    if (next === undefined) line.isBusy = false
    else begin(line, next.message, next.response)
  }

  return (message, response) => {
    const { socket } = message
    // node:http may emit further requests of a piece after the connection was ended.
    if (socket.destroyed) return
    let line = lines.get(socket)
    if (line === undefined) lines.set(socket, (line = { isBusy: false, waiting: [] }))
    if (!line.isBusy) return begin(line, message, response)
    if (line.waiting.length < MOST_WAITING) return void line.waiting.push({ message, response })
    line.waiting.length = 0
    end(socket)
  }
}

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  readonly onRequest: RequestListener
  /** Handles requests on connections that were accepted beyond the limit. Default: `onRequest`. */
  readonly onRequestBeyond?: RequestListener | undefined
  /** Returns the maximum numbers of connections, in total and of one address. A stream or a long poll is one. */
  readonly bounds: () => ConnectionBounds
  /** Number of connections that are accepted beyond the limit. Default none. */
  readonly beyond?: number | undefined
  /** Called while connections are ended or refused: see `ConnectionsOptions.onCrowded`. */
  readonly onCrowded?: ((counts: ConnectionCounts) => void) | undefined
  readonly clock?: Clock | undefined
  /** Milliseconds for which a connection does not count as idle: see `ConnectionsOptions.freshMs`. */
  readonly freshMs?: number | undefined
  /** Maximum milliseconds until a request's headers are complete; for tests. Default 10,000. */
  readonly headersTimeoutMs?: number | undefined
}

/** Maximum size of a request's headers in bytes (our choice): 16 KiB, as docs/serving-players.md recommends. */
const MAX_HEADER_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/**
 * Milliseconds for which an idle connection is kept. Proxies keep theirs for a shorter time; otherwise they would use a
 * connection that was just closed.
 */
const KEEP_ALIVE_MS = 65_000
const REQUESTS_PER_SOCKET = 10_000

/** A listener that is open. */
export interface ListeningServer {
  /** The URL with the actual port. */
  readonly url: string
  /** The URL of the listener for operators, if there is one. */
  readonly adminUrl?: string | undefined
  readonly port: number
  readonly connections: () => ConnectionCounts
  /** Returns the maximum milliseconds that new connections may have waited in the kernel's queue. */
  readonly queuedMs: () => number
  /** Stops accepting connections. Resolves once the last connection has ended. */
  readonly close: () => Promise<void>
  /** Ends all connections immediately. */
  readonly destroy: () => void
}

/**
 * Opens a listener with limits for slow and for many clients. A connection that sends nothing is ended like one with
 * slow headers. Rejects like node:net if it cannot listen on the address.
 */
export async function openListener(options: ListenerOptions): Promise<ListeningServer> {
  const { host, port, onRequest, onRequestBeyond = onRequest, headersTimeoutMs = HEADERS_TIMEOUT_MS } = options
  const { clock = systemClock } = options
  const connections = createConnections<Socket>({
    bounds: options.bounds,
    beyond: options.beyond ?? 0,
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

/** Returns the host name by which this machine reaches the listening address. */
function nameOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Returns the maximum number of open files and sockets of this process; undefined if the system does not report it. */
export async function descriptorLimit(path = '/proc/self/limits'): Promise<number | undefined> {
  const limits = await readFile(path, 'utf8').catch(() => '')
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}

/**
 * Number of connections that are allowed in addition to waits: for other requests, and between a client's waits (our
 * choice).
 */
const MORE_CONNECTIONS = 10_000
/**
 * Maximum number of long polls and event streams if the configuration states none. Equal to the ticket API's default.
 */
const WAITS = 50_000
/**
 * Maximum number of connections of one address, and its maximum share of all connections (our choice). They apply if
 * the addresses of clients are known.
 */
const MOST_PER_ADDRESS = 2000
const PART_PER_ADDRESS = 1 / 8
/** Number of connections above the limit, on which only operators are answered (our choice). */
const BEYOND = 100
/** File descriptors that are reserved for files, Redis, the deployment service and operators (our choice). */
const KEPT_DESCRIPTORS = 300

/**
 * Computes the limits of connections. Each connection needs a file descriptor. Behind a proxy there is no limit per
 * address, because all players come from the proxy's address.
 */
export function listenerBounds({ limits, addresses }: Config, descriptors: number | undefined) {
  const wanted = (limits.waits ?? WAITS) + MORE_CONNECTIONS
  const possible = descriptors === undefined ? Infinity : Math.max(BEYOND, descriptors - KEPT_DESCRIPTORS - BEYOND)
  const most = Math.min(wanted, possible)
  return {
    most,
    perAddress:
      addresses.trustedProxies.length > 0 ? undefined : Math.min(MOST_PER_ADDRESS, Math.ceil(most * PART_PER_ADDRESS)),
    /** The configured limit, if file descriptors allow fewer connections; otherwise undefined. */
    wanted: most < wanted ? wanted : undefined,
  }
}

interface ListenersOptions {
  /** Returns the current configuration. Its addresses of the listeners are read once. */
  readonly config: () => Config
  /** Returns the current routes, which a reload replaces. */
  readonly mounts: () => Mounts
  readonly log: Log
  readonly clock: Clock
  /** True in `muster dev`, which logs no warning if file descriptors limit the connections. */
  readonly isDev: boolean
}

/** Maximum number of operators' connections: probes, scrapes, consoles (our choice). */
const MOST_ADMIN = 200

/**
 * Opens the players' listener, and the operators' listener if it is configured. If one fails, neither stays open, and
 * the error names the setting and keeps the code of the system.
 */
export async function openListeners({ config, mounts, log, clock, isDev }: ListenersOptions): Promise<ListeningServer> {
  const { listen } = config()
  const descriptors = await descriptorLimit()
  const bounds = () => listenerBounds(config(), descriptors)
  const players = await openListener({
    bounds,
    beyond: BEYOND,
    host: listen.host,
    port: listen.port,
    onRequest: (...request) => mounts().all(...request),
    onRequestBeyond: (...request) => mounts().beyond(...request),
    onCrowded: (counts) => log.warn(crowded(counts, bounds().most)),
    clock,
  }).catch((error: unknown) => {
    throw notListening('listen', listen, error)
  })
  const all = listen.admin === undefined ? players : both(players, await openAdmin(listen.admin))
  const { most, wanted } = bounds()
  if (wanted !== undefined && !isDev)
    log.warn(
      `too few file descriptors for the connections that limits.waits allows: only ${most} of ` +
        `${wanted} are accepted. Raise the limit (ulimit -n, LimitNOFILE), or lower limits.waits`,
    )
  return all

  async function openAdmin(socket: { readonly host: string; readonly port: number }): Promise<ListeningServer> {
    try {
      return await openListener({
        ...socket,
        onRequest: (...request) => mounts().admin(...request),
        bounds: () => ({ most: MOST_ADMIN, perAddress: undefined }),
        clock,
      })
    } catch (error) {
      players.destroy()
      await players.close()
      throw notListening('listen.admin', socket, error)
    }
  }
}

/** What prevents a listener from being opened, and the remedy, by the code of the system. */
const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already. End it, or choose another port',
  EACCES: 'this user may not listen there. Choose a port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host is not known now',
}

/** Returns the error of a listener with the name of its setting. Its code is that of the system. */
function notListening(field: string, { host, port }: { readonly host: string; readonly port: number }, error: unknown) {
  const { code = '', message } = error as NodeJS.ErrnoException
  const where = `${field}: host ${host}, port ${port}`
  return Object.assign(new Error(`${where}: ${WHY[code] ?? message} (${code}).`, { cause: error }), { code })
}

/** Returns the log text with counts only, because log lines never contain addresses of clients. */
const crowded = (counts: ConnectionCounts, most: number) =>
  `too many connections: ${counts.open} of ${most} are open, ${counts.largest} of one address or /48. ` +
  `Since the start ${counts.idleEnded} idle and ${counts.busyEnded} busy ones were ended in favour of others, ` +
  `${counts.pipelinedEnded} because too many requests waited on them, and ${counts.refused} were refused`

const both = (players: ListeningServer, admin: ListeningServer): ListeningServer => ({
  ...players,
  adminUrl: admin.url,
  close: async () => void (await Promise.all([players.close(), admin.close()])),
  destroy: () => {
    players.destroy()
    admin.destroy()
  },
})
