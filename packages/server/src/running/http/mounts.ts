import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { type HttpHandler, nodeListener, Problem } from '@muster/core/http'
import { problemDocument } from '@muster/core/internal'
import type { Ready } from '../readiness.js'
import { isReading, json, pathOf, redirect } from './answers.js'
import type { LoadGuard } from './load-guard.js'

/** The handlers of requests by operators. */
interface OperationsOptions {
  readonly ready: () => Promise<Ready>
  /** The console; undefined if this listener does not serve it. */
  readonly console: HttpHandler | undefined
  /** Answers a scrape; undefined if this listener serves no metrics. */
  readonly metrics: RequestListener | undefined
}

/** Answers a request by an operator, and returns true. Returns false for any other request. */
type OperatorEndpoints = (message: IncomingMessage, response: ServerResponse) => boolean

/** Creates the handlers of `/healthz`, `/readyz`, `/metrics` and `/console`. `/` redirects to the console. */
function createOperations({ ready, console, metrics }: OperationsOptions): OperatorEndpoints {
  const page = console && nodeListener(console)
  const answerReady = async (response: ServerResponse) => {
    const { is, why, leading } = await ready()
    json(response, is ? 200 : 503, { ready: is, why, leading })
  }
  const answerTo = (path: string, message: IncomingMessage): RequestListener | undefined => {
    if (path === '/healthz') return (_, response) => json(response, 200, { alive: true })
    if (path === '/readyz') return (_, response) => void answerReady(response)
    if (path === '/metrics') return metrics
    if (path === '/console' || path.startsWith('/console/')) return page
    return path === '/' && page !== undefined && isReading(message)
      ? (_, response) => redirect(response, '/console/')
      : undefined
  }
  return (message, response) => {
    const answer = answerTo(pathOf(message), message)
    answer?.(message, response)
    return answer !== undefined
  }
}

/** The handlers, and what routing depends on. */
interface MountsOptions extends OperationsOptions {
  /** Returns the current APIs, which a reload replaces. */
  readonly apis: () => {
    readonly tickets: HttpHandler
    readonly lobbies: HttpHandler | undefined
    /** Answers requests for /openapi.json. */
    readonly document: HttpHandler
  }
  readonly webhooks: HttpHandler
  /** Returns true while the program ends. Requests that begin something are then refused. */
  readonly isClosing: () => boolean
  /** Decides whether the APIs accept a request. */
  readonly guard: Pick<LoadGuard, 'admits'>
  /** True if a separate listener serves metrics and the console. The players' listener then does not serve them. */
  readonly hasAdmin: boolean
  readonly clock: Clock
}

/** The request listeners. */
export interface Mounts {
  /** For the players' listener. */
  readonly all: RequestListener
  /** For the players' listener while there are too many connections: operators are answered, others are refused. */
  readonly beyond: RequestListener
  /** For the operators' listener. */
  readonly admin: RequestListener
}

/** Milliseconds for which a connection is not read after a request on it was refused for overload (our choice). */
const REST_MS = 500

/**
 * Routes requests by the first segment of the path. All other paths belong to the ticket API, whose paths have no
 * prefix.
 */
export function createMounts(mounts: MountsOptions): Mounts {
  const listeners = new WeakMap<HttpHandler, RequestListener>()
  const listenerOf = (handler: HttpHandler): RequestListener => {
    const known = listeners.get(handler)
    if (known !== undefined) return known
    const made = nodeListener(handler)
    listeners.set(handler, made)
    return made
  }
  const webhooks = nodeListener(mounts.webhooks)
  const operate = createOperations(mounts)
  const operateHere = mounts.hasAdmin ? createOperations({ ready: mounts.ready, ...NOTHING }) : operate

  const all: RequestListener = (message, response) => {
    // With keep-alive, a client would send its next request while the server closes the connection.
    if (mounts.isClosing()) response.shouldKeepAlive = false
    if (operateHere(message, response)) return
    const path = pathOf(message)
    const [, first] = path.split('/', 2)
    if (first === 'webhooks') return webhooks(message, response)
    const apis = mounts.apis()
    if (mounts.isClosing() && !isLeaving(message)) return refuse(message, response)
    if (!mounts.guard.admits(message, response)) {
      tooLate(message, response)
      return pauseAfter(message, response, mounts.clock)
    }
    const api = path === '/openapi.json' ? apis.document : apis.tickets
    return listenerOf(first === 'lobbies' && apis.lobbies !== undefined ? apis.lobbies : api)(message, response)
  }
  return {
    all,
    beyond: (message, response) => {
      if (operateHere(message, response)) return
      // Ends the connection after the response, because another client may need its place.
      response.shouldKeepAlive = false
      tooMany(message, response)
    },
    admin: (message, response) => {
      if (!operate(message, response)) notHere(message, response)
    },
  }
}

const NOTHING = { console: undefined, metrics: undefined }

/** Creates the listeners for the time of the start: `/healthz` succeeds, `/readyz` fails, and no data is served. */
export function startingMounts(): Mounts {
  const operate = createOperations({ ready: async () => ({ is: false, why: ['the process is starting'] }), ...NOTHING })
  const answer: RequestListener = (message, response) => {
    if (!operate(message, response)) starting(message, response)
  }
  return { all: answer, beyond: answer, admin: answer }
}

/**
 * Pauses a connection for `REST_MS` after a refusal. A refusal costs a third of a response, and clients may retry
 * immediately.
 */
function pauseAfter({ socket }: IncomingMessage, response: ServerResponse, clock: Clock): void {
  // Pauses after the response, because node:http itself resumes the socket to skip the rest of the body.
  const rest = async () => {
    socket.pause()
    await clock.sleep(REST_MS)
    socket.resume()
  }
  response.once('finish', () => setImmediate(() => void rest()))
}

/** Returns true for requests that are still answered while the program ends: reads and DELETE. */
const isLeaving = (message: IncomingMessage) => isReading(message) || message.method === 'DELETE'

/**
 * Creates a listener that refuses without reading the request. Under load, a refusal must cost a fraction of a
 * response.
 */
function refusal(refused: Problem): RequestListener {
  const body = Buffer.from(JSON.stringify(problemDocument(refused)))
  const { retryAfterMs } = refused.options
  const headers = {
    'content-type': 'application/problem+json',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...(retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
  }
  return (_, response) => void response.writeHead(refused.status, headers).end(body)
}

/**
 * Milliseconds after which a refused client should retry (our choice): by then there is room, or another process
 * answers.
 */
const retryAfterMs = 2000
const busy = (why: string) =>
  refusal(new Problem(503, 'busy', `${why}. Retry after ${retryAfterMs / 1000} s.`, { retryAfterMs }))
const refuse = refusal(new Problem(503, 'closing', 'The server is shutting down. Retry later.', { retryAfterMs }))
const starting = refusal(
  new Problem(503, 'starting', 'The server is starting. Retry after 1 s.', { retryAfterMs: 1000 }),
)
const tooMany = busy('Too many connections')
const tooLate = busy('Too many requests at once')
const notHere = refusal(new Problem(404, 'not-found', 'This address serves health, metrics and the console only.'))
