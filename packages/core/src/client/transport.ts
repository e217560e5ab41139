import type { Dispatcher } from 'undici'
import type { CancelListener, Cancellation } from './cancellation.js'
import { type ConnectionOptions, type Connections, createConnections } from './connections.js'
import { ConnectionLost, UnexpectedResponse, type CallFacts } from './errors.js'
import type { ClientDispatcher } from './in-process.js'

/** A request as it is sent on a connection. */
export interface Outgoing {
  /** The lane whose connections are used. */
  readonly lane: string
  readonly method: Dispatcher.HttpMethod
  readonly path: string
  /** Names and values, alternating. */
  readonly headers: string[]
  readonly body: string | undefined
}

/** An answer as received. */
export interface Answer {
  readonly status: number
  readonly headers: AnswerHeaders
  /** UTF-8 text. */
  readonly body: string
  /** Bytes of the body. */
  readonly bytes: number
}

/** Headers by lower-case name. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Exchange {
  /** Facts of the request, for errors. */
  facts(): CallFacts
  readonly cancellation: Cancellation
  /** Called right before the request would be written. If it returns an error, nothing is written. */
  readonly objection?: (() => Error | undefined) | undefined
  /** Called before the request is written to an open connection. */
  sending(): void
  /**
   * Called when the request's bytes have been written.
   * @param fresh whether the request is the first on its connection.
   */
  written(fresh: boolean): void
  /** Called when the answer begins to arrive. */
  answered(): void
}

/** Connections to one origin. */
export interface Transport {
  exchange(outgoing: Outgoing, exchange: Exchange): Promise<Answer>
  /** Closes the client's own connections. An injected dispatcher is left to its owner. */
  close(): Promise<void>
}

export interface TransportOptions extends ConnectionOptions {
  readonly maxResponseBytes: number
}

/**
 * Uses undici's `dispatch`, the layer below `request` and `fetch`, because it is the fastest. Its `onRequestStart` is
 * the instant before an HTTP/1.1 request is written, after connecting and after waiting for a free connection. The rate
 * limiter counts from then, and a request that fails before then has certainly not reached the service.
 */
export function createTransport({ maxResponseBytes, ...options }: TransportOptions): Transport {
  const connections = createConnections(options)
  return {
    exchange: ({ lane, method, path, headers, body = null }, exchange) => {
      const { cancellation } = exchange
      const dispatch = (via: ClientDispatcher) =>
        new Promise<Answer>((resolve, reject) => {
          if (cancellation.cancelled) return reject(cancellation.reason)
          // The call's own deadline covers connecting, headers and body.
          const request = { origin: options.origin, method, path, headers, body, headersTimeout: 0, bodyTimeout: 0 }
          via.dispatch(request, new Dispatch(exchange, connections, maxResponseBytes, resolve, reject))
        })
      const via = connections.of(lane)
      return via instanceof Promise ? via.then(dispatch) : dispatch(via)
    },
    close: connections.close,
  }
}

/**
 * Handles one request and its answer; undici calls the methods. A class, because V8 may allocate object literals among
 * long-lived objects, which keeps alive all that they refer to.
 */
class Dispatch implements Dispatcher.DispatchHandler, CancelListener, Answer {
  status = 0
  headers: AnswerHeaders = noHeaders
  body = ''
  bytes = 0
  readonly #exchange: Exchange
  readonly #connections: Connections
  readonly #maxBytes: number
  #resolve: ((answer: Answer) => void) | undefined
  #reject: ((reason: unknown) => void) | undefined
  #controller: Dispatcher.DispatchController | undefined
  #sent = false
  #chunks: Buffer | Buffer[] | undefined

  constructor(
    exchange: Exchange,
    connections: Connections,
    maxBytes: number,
    resolve: (answer: Answer) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#exchange = exchange
    this.#connections = connections
    this.#maxBytes = maxBytes
    this.#resolve = resolve
    this.#reject = reject
    exchange.cancellation.listener = this
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The call was cancelled while it waited for a connection. undici does not write a request aborted here.
    if (this.#reject === undefined) return controller.abort(abandoned())
    this.#controller = controller
    const objection = this.#exchange.objection?.()
    if (objection !== undefined) return this.#fail(objection)
    this.#sent = true
    this.#exchange.sending()
    // undici writes the request in this turn of the event loop; `isFresh` is only valid in the same turn.
    const fresh = this.#connections.isFresh()
    // `queueMicrotask` takes several times as long.
    done.then(() => this.#exchange.written(fresh))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200) return // early hints and the like: the final answer follows
    this.status = status
    this.headers = headers
    this.#exchange.answered()
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.bytes > this.#maxBytes)
      return this.#fail(tooLarge(this.#maxBytes, { ...this.#exchange.facts(), status: this.status }))
    if (this.#chunks === undefined) this.#chunks = chunk
    else if (Array.isArray(this.#chunks)) this.#chunks.push(chunk)
    else this.#chunks = [this.#chunks, chunk]
  }

  onResponseEnd(): void {
    const resolve = this.#resolve
    const chunks = this.#chunks
    this.#settle()
    this.body = (Array.isArray(chunks) ? Buffer.concat(chunks) : chunks)?.toString() ?? ''
    resolve?.(this)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(lost(error, this.#sent, this.#exchange.facts()))
  }

  cancelled(reason: unknown): void {
    this.#fail(reason)
  }

  #fail(reason: unknown): void {
    const reject = this.#reject
    const controller = this.#controller
    this.#settle()
    reject?.(reason)
    controller?.abort(abandoned())
  }

  #settle(): void {
    this.#exchange.cancellation.listener = undefined
    this.#resolve = undefined
    this.#reject = undefined
    this.#controller = undefined
    this.#chunks = undefined
  }
}

const noHeaders: AnswerHeaders = {}
const done = Promise.resolve()
const abandoned = () => new Error('nobody waits for the answer any more')

const tooLarge = (maxBytes: number, facts: CallFacts) =>
  new UnexpectedResponse(`${facts.operation}: the answer is larger than ${maxBytes} bytes`, facts)

function lost(error: Error, sent: boolean, facts: CallFacts): ConnectionLost {
  const cause = withoutData(error)
  // If all addresses of a host fail, the error's message is empty and its code tells why.
  const why = cause.message || ('code' in cause ? String(cause.code) : cause.name)
  const what = sent ? 'the connection was lost before the answer was complete' : 'no connection'
  return new ConnectionLost(`${facts.operation}: ${what}: ${why}`, { ...facts, sent, cause })
}

/** Removes a piece of the answer from undici's parser error, as it may hold a secret. */
function withoutData(error: Error): Error {
  if (!('data' in error)) return error
  const { name, message, stack } = error
  return Object.assign(new Error(message), { name, stack })
}
