import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { nodeListener, Problem, problemResponse, type HttpHandler } from '@muster/core/http'
import type { Ready } from './readiness.js'

/** What is served, by where. */
export interface Mounts {
  /** The present APIs: a reload replaces them. */
  readonly apis: () => {
    readonly tickets: HttpHandler
    readonly lobbies: HttpHandler | undefined
    readonly document: () => Promise<object>
  }
  readonly console: HttpHandler | undefined
  readonly webhooks: HttpHandler
  /** Answers a scrape; undefined without metrics. */
  readonly metrics: RequestListener | undefined
  readonly ready: () => Promise<Ready>
  /** Whether the program ends: then nothing new is taken. */
  readonly isClosing: () => boolean
}

/** Milliseconds after which a client asks again while the program ends: by then another one answers (our choice). */
const RETRY_AFTER_MS = 2000

/**
 * Answers every request of the program: by the first segment of its path, and where nothing else is, by the ticket API,
 * whose paths have no prefix.
 */
export function createMounts(mounts: Mounts): RequestListener {
  const listeners = new WeakMap<HttpHandler, RequestListener>()
  const listenerOf = (handler: HttpHandler): RequestListener => {
    const known = listeners.get(handler)
    if (known !== undefined) return known
    const made = nodeListener(handler)
    listeners.set(handler, made)
    return made
  }
  const webhooks = nodeListener(mounts.webhooks)
  const page = mounts.console && nodeListener(mounts.console)

  return (message, response) => {
    const path = pathOf(message)
    const [, first] = path.split('/', 2)
    if (first === 'healthz' && path === '/healthz') return json(response, 200, { alive: true })
    if (first === 'readyz' && path === '/readyz') return void answerReady(mounts, response)
    if (first === 'metrics' && path === '/metrics' && mounts.metrics) return mounts.metrics(message, response)
    if (first === 'webhooks') return webhooks(message, response)
    if (first === 'console' && page !== undefined) return page(message, response)
    if (path === '/' && page !== undefined && isReading(message)) return redirect(response, '/console/')
    const apis = mounts.apis()
    if (mounts.isClosing() && !isLeaving(message)) return refuse(message, response)
    if (path === '/openapi.json' && apis.lobbies !== undefined && isReading(message))
      return void apis.document().then(
        (document) => json(response, 200, document),
        () => refuse(message, response),
      )
    return listenerOf(first === 'lobbies' && apis.lobbies !== undefined ? apis.lobbies : apis.tickets)(
      message,
      response,
    )
  }
}

/** Without the query. */
function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

const isReading = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD'
/** What is still answered while the program ends: reading, and leaving. */
const isLeaving = (message: IncomingMessage) => isReading(message) || message.method === 'DELETE'

async function answerReady({ ready }: Mounts, response: ServerResponse): Promise<void> {
  const { is, why } = await ready()
  json(response, is ? 200 : 503, { ready: is, why })
}

function json(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(text)
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location, 'content-length': 0 }).end()
}

const refuse = nodeListener(async () =>
  problemResponse(
    new Problem(503, 'closing', 'this server is about to end: ask again', { retryAfterMs: RETRY_AFTER_MS }),
  ),
)
