import type { Duplex } from 'node:stream'
import type { buildConnector, Dispatcher, Pool } from 'undici'
import { type CallFacts, ConnectionLost, UnexpectedResponse } from './errors.js'

/** The part of an undici dispatcher that a client uses. */
export type ClientDispatcher = Pick<Dispatcher, 'dispatch'>

/**
 * Creates a dispatcher that passes requests to a function of this process instead of the network, e.g. to an emulator's
 * `fetch`. For tests on a manual clock, because a real connection would not wait for the clock.
 */
export function inProcess(handle: (request: Request) => Promise<Response>): ClientDispatcher {
  return {
    dispatch: ({ origin, path, method, headers, body }, handler) => {
      const controller = {
        aborted: false,
        paused: false,
        reason: null as Error | null,
        abort: (reason: Error): void => {
          controller.aborted = true
          controller.reason ??= reason
        },
        pause: () => {},
        resume: () => {},
      }
      const answer = async () => {
        const request = new Request(new URL(path, origin), {
          method,
          headers: pairs(headers),
          body: typeof body === 'string' ? body : null,
        })
        const response = await handle(request)
        const bytes = Buffer.from(await response.arrayBuffer())
        if (controller.aborted) return
        handler.onResponseStart?.(
          controller,
          response.status,
          Object.fromEntries(response.headers),
          response.statusText,
        )
        if (bytes.length > 0) handler.onResponseData?.(controller, bytes)
        handler.onResponseEnd?.(controller, {})
      }
      handler.onRequestStart?.(controller, {})
      if (controller.aborted) return true
      answer().catch((error: unknown) =>
        handler.onResponseError?.(controller, error instanceof Error ? error : new Error(String(error))),
      )
      return true
    },
  }
}

/** Converts a flat list of names and values, alternating, to pairs. The client sends headers as such a list. */
function pairs(headers: unknown): [name: string, value: string][] {
  const list = headers as readonly string[]
  return Array.from({ length: list.length / 2 }, (_, index) => [
    list[2 * index] as string,
    list[2 * index + 1] as string,
  ])
}

/** A connection pool that the client owns. */
interface OpenPool {
  readonly dispatcher: Dispatcher
  /**
   * Closes all connections immediately, including those that are still being set up. Call it when no caller waits for a
   * response.
   */
  close(): Promise<void>
}

/**
 * Opens a pool. undici is loaded here, at the first request, because it takes longer to load than the rest of this
 * package.
 *
 * The pool's own `close` is not used: it waits for connections that are being set up, up to 10 s for an unanswered
 * handshake.
 */
async function openPool({ origin, connections }: ConnectionOptions, connected: () => void): Promise<OpenPool> {
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
  dispatcher.on('connect', connected)
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
  // Bun replaces undici by its own implementation, which can only fetch. Importing undici's files by path gets the real
  // implementation.
  const [pool, connect] = await Promise.all(
    ['undici/lib/dispatcher/pool.js', 'undici/lib/core/connect.js'].map((path) => import(path)),
  )
  return { Pool: pool.default, buildConnector: connect.default }
}

interface ConnectionOptions {
  /** Scheme, host and port of the service. */
  readonly origin: string
  /** Maximum number of connections in each lane. */
  readonly connections: number
  /** Dispatcher that replaces the client's own pools in all lanes. */
  readonly dispatcher?: ClientDispatcher | undefined
}

/** A request, ready to be written to a connection. */
interface Outgoing {
  /** The lane whose connections the request uses. */
  readonly lane: string
  readonly method: Dispatcher.HttpMethod
  readonly path: string
  /** Names and values of the headers, alternating. */
  readonly headers: string[]
  readonly body: string | undefined
}

/** A response as received. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  /** The body as text, read as UTF-8. */
  readonly body: string
  /** Size of the body in bytes. */
  readonly bytes: number
}

/** Headers by lower-case name. */
type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface CallExchange {
  /** Facts of the request, for errors. */
  facts(): CallFacts
  /** Signal that ends the exchange when it is aborted. */
  readonly signal: AbortSignal
  /** Called right before the request is written. If it returns an error, nothing is written. */
  objection(): Error | undefined
  /** Called before the request is written to an open connection. */
  sending(): void
  /**
   * Called once the request's bytes were written.
   * @param fresh true if the request is the first on its connection.
   */
  written(fresh: boolean): void
  /** Called when the response begins to arrive. */
  answered(): void
}

/** Connections to one origin. */
export interface Transport {
  exchange(outgoing: Outgoing, exchange: CallExchange): Promise<HttpAnswer>
  /** Closes the client's own connections. An injected dispatcher is not closed: its owner closes it. */
  close(): Promise<void>
}

export interface TransportOptions extends ConnectionOptions {
  readonly maxResponseBytes: number
}

/**
 * Creates a transport. It uses undici's `dispatch`, the layer below `request` and `fetch`, because that is the fastest.
 * undici calls `onRequestStart` right before an HTTP/1.1 request is written, after connecting and after waiting for a
 * free connection. The rate limiter counts a request from then on. A request that fails before then has certainly not
 * reached the service.
 */
export function createTransport({ maxResponseBytes, ...options }: TransportOptions): Transport {
  const { origin, dispatcher: injected } = options
  /** The connections of each lane, so that slow calls in one lane do not delay calls in another. */
  const pools = new Map<string, Promise<OpenPool>>()
  /**
   * True while a new connection writes its first request. undici reports the connection and writes in the same turn of
   * the event loop.
   */
  let opened = false
  const noteOpened = () => {
    opened = true
    queueMicrotask(() => {
      opened = false
    })
  }
  const tells = injected !== undefined && 'on' in injected ? (injected as Dispatcher) : undefined
  tells?.on('connect', noteOpened)

  const dispatcherOf = async (lane: string): Promise<ClientDispatcher> => {
    if (injected !== undefined) return injected
    const pool = pools.get(lane) ?? openPool(options, noteOpened)
    pools.set(lane, pool)
    return (await pool).dispatcher
  }

  return {
    exchange: async ({ lane, method, path, headers, body = null }, exchange) => {
      const via = await dispatcherOf(lane)
      exchange.signal.throwIfAborted()
      // The call's own deadline covers connecting, headers and body.
      const request = { origin, method, path, headers, body, headersTimeout: 0, bodyTimeout: 0 }
      return new Promise((resolve, reject) => {
        via.dispatch(
          request,
          answerHandler(exchange, () => opened, maxResponseBytes, resolve, reject),
        )
      })
    },
    close: async () => {
      tells?.off('connect', noteOpened)
      await Promise.all(Array.from(pools.values(), async (pool) => (await pool).close()))
    },
  }
}

/**
 * Creates the handler of one request and its response. undici calls its methods.
 * @param isFresh returns true if the request being written is the first on its connection. It is only valid while the
 *   request is written.
 */
function answerHandler(
  { facts, signal, ...exchange }: CallExchange,
  isFresh: () => boolean,
  maxBytes: number,
  resolve: (answer: HttpAnswer) => void,
  reject: (reason: unknown) => void,
): Dispatcher.DispatchHandler {
  let status = 0
  let headers: AnswerHeaders = {}
  let bytes = 0
  const chunks: Buffer[] = []
  let controller: Dispatcher.DispatchController | undefined
  let isSettled = false

  const settle = () => {
    isSettled = true
    signal.removeEventListener('abort', onAbort)
  }
  const fail = (reason: unknown) => {
    if (isSettled) return
    settle()
    reject(reason)
    controller?.abort(abandoned())
  }
  const onAbort = () => fail(signal.reason)
  signal.addEventListener('abort', onAbort)

  return {
    onRequestStart: (started) => {
      // The call was cancelled while it waited for a connection. undici does not write a request that is aborted here.
      if (isSettled) return started.abort(abandoned())
      controller = started
      const objection = exchange.objection()
      if (objection !== undefined) return fail(objection)
      exchange.sending()
      // undici writes the request in this turn of the event loop; `isFresh` is only valid in the same turn.
      const fresh = isFresh()
      queueMicrotask(() => exchange.written(fresh))
    },
    onResponseStart: (_, received, receivedHeaders) => {
      if (received < 200) return // Early hints and similar responses: the final response follows.
      status = received
      headers = receivedHeaders
      exchange.answered()
    },
    onResponseData: (_, chunk) => {
      bytes += chunk.length
      if (bytes > maxBytes) return fail(tooLarge(maxBytes, { ...facts(), status }))
      chunks.push(chunk)
    },
    onResponseEnd: () => {
      settle()
      resolve({ status, headers, body: Buffer.concat(chunks).toString(), bytes })
    },
    onResponseError: (_, error) => fail(lost(error, controller !== undefined, facts())),
  }
}

const abandoned = () => new Error('the request was aborted: no call waits for its answer')

const tooLarge = (maxBytes: number, facts: CallFacts) =>
  new UnexpectedResponse(`${facts.operation}: the answer is larger than ${maxBytes} bytes`, facts)

function lost(error: Error, sent: boolean, facts: CallFacts): ConnectionLost {
  const cause = withoutData(error)
  // If all addresses of a host fail, the error's message is empty, but its code gives the reason.
  const why = cause.message || ('code' in cause ? String(cause.code) : cause.name)
  const what = sent ? 'the connection was lost before the answer was complete' : 'no connection'
  return new ConnectionLost(`${facts.operation}: ${what}: ${why}`, { ...facts, sent, cause })
}

/** Removes the quoted response from undici's parser error, because it may contain a secret. */
function withoutData(error: Error): Error {
  if (!('data' in error)) return error
  const { name, message, stack } = error
  return Object.assign(new Error(message), { name, stack })
}
