import type { Dispatcher } from 'undici'
import type { Cancellation } from './cancellation.js'
import { ConnectionLost, UnexpectedResponse, type CallFacts } from './errors.js'

/** What goes out on a connection. */
export interface Outgoing {
  readonly method: Dispatcher.HttpMethod
  readonly path: string
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body: string | undefined
}

/** What came back. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** UTF-8 text. */
  readonly body: string
  /** Bytes of the body. */
  readonly bytes: number
}

export interface Exchange {
  /** For errors: whose request it is. */
  readonly facts: () => CallFacts
  readonly cancellation: Cancellation
  /** Called when the request is being written to a connection that is open. */
  readonly written: () => void
  /** Called when the answer begins to arrive. */
  readonly answered: () => void
}

/** Connections to one origin. */
export interface Transport {
  exchange(outgoing: Outgoing, exchange: Exchange): Promise<Answer>
  /** Closes its own connections; those of an injected dispatcher are its owner's. */
  close(): Promise<void>
}

export interface TransportOptions {
  /** Scheme, host and port. */
  readonly origin: string
  /** Connections kept at most. */
  readonly connections: number
  readonly maxResponseBytes: number
  /** In place of an own pool. */
  readonly dispatcher?: Dispatcher | undefined
}

/**
 * Speaks to undici's dispatch, the layer below `request` and `fetch`: it is the cheapest, and its
 * `onRequestStart` is the instant at which an HTTP/1.1 request is written, after connecting and after
 * waiting for a free connection. The rate limiter counts from it, and a failure before it is certain not
 * to have reached the service.
 *
 * undici is loaded at the first request: it takes longer to load than everything else in this package.
 */
export function createTransport({ origin, connections, maxResponseBytes, dispatcher: injected }: TransportOptions): Transport {
  let dispatcher = injected
  let own: Promise<Dispatcher> | undefined
  const connect = () =>
    (own ??= import('undici').then(({ Pool }) => {
      dispatcher = new Pool(origin, { connections })
      return dispatcher
    }))

  return {
    exchange: (outgoing, exchange) => {
      const go = (via: Dispatcher) => dispatch(via, { origin, maxResponseBytes, ...outgoing }, exchange)
      return dispatcher === undefined ? connect().then(go) : go(dispatcher)
    },
    close: async () => {
      if (injected === undefined) await (await own)?.close()
    },
  }
}

function dispatch(
  dispatcher: Dispatcher,
  outgoing: Outgoing & { readonly origin: string; readonly maxResponseBytes: number },
  { facts, cancellation, written, answered }: Exchange,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let settled = false
    let sent = false
    let status = 0
    let headers: Answer['headers'] = {}
    let bytes = 0
    const chunks: Buffer[] = []

    const settle = () => {
      settled = true
      cancellation.listener = undefined
    }
    const fail = (error: unknown) => {
      if (settled) return
      settle()
      reject(error)
      controller?.abort(new Error('abandoned'))
    }

    if (cancellation.cancelled) return reject(cancellation.reason)
    cancellation.listener = () => fail(cancellation.reason)
    const { origin, maxResponseBytes, method, path, headers: wanted, body = null } = outgoing
    dispatcher.dispatch(
      // The call's own deadline covers connecting, headers and body.
      { origin, method, path, headers: wanted, body, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart: (started) => {
          controller = started
          // Settled while it waited for a connection: undici does not write what is aborted here.
          if (settled) return started.abort(new Error('abandoned'))
          sent = true
          written()
        },
        onResponseStart: (_, statusCode, received) => {
          if (statusCode < 200) return // early hints and the like: the answer is still to come
          status = statusCode
          headers = received
          answered()
        },
        onResponseData: (_, chunk) => {
          bytes += chunk.length
          chunks.push(chunk)
          if (bytes > maxResponseBytes) fail(tooLarge(maxResponseBytes, { ...facts(), status }))
        },
        onResponseEnd: () => {
          if (settled) return
          settle()
          resolve({ status, headers, body: textOf(chunks), bytes })
        },
        onResponseError: (_, error) => fail(lost(error, sent, facts())),
      },
    )
  })
}

/** One chunk, the usual case, is not copied. */
const textOf = (chunks: readonly Buffer[]) => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString()

const tooLarge = (maxBytes: number, facts: CallFacts) =>
  new UnexpectedResponse(`${facts.operation}: the answer is larger than ${maxBytes} bytes`, facts)

function lost(error: Error, sent: boolean, facts: CallFacts): ConnectionLost {
  const cause = withoutData(error)
  // When all addresses of a host fail, the message is empty and the code says it.
  const why = cause.message || ('code' in cause ? String(cause.code) : cause.name)
  const what = sent ? 'the connection was lost before the answer was complete' : 'no connection'
  return new ConnectionLost(`${facts.operation}: ${what}: ${why}`, { ...facts, sent, cause })
}

/** undici's parser error carries a piece of the answer, which may hold anything. */
function withoutData(error: Error): Error {
  if (!('data' in error)) return error
  const { name, message, stack } = error
  return Object.assign(new Error(message), { name, stack, ...('code' in error ? { code: error.code } : {}) })
}
