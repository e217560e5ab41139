import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HttpHandler, replierOf, type Reply } from './answers.js'
import { announcesBody } from './incoming-body.js'
import { canStandIn, goneSignal, lazyRequest, onGone, realRequest } from './lazy-request.js'

/** Creates a listener for node:http, Express and similar servers, e.g. `http.createServer(nodeListener(handler))`. */
export function nodeListener(handler: HttpHandler): (message: IncomingMessage, response: ServerResponse) => void {
  const reply = replierOf(handler)
  // Repliers are Muster's own handlers, which use only what a lazy request offers. Other handlers may pass the request
  // on, which can require a full request.
  const toRequest = requestMaker(reply === handler && !canStandIn ? wholeRequest : lazyRequest)
  const serve = async (message: IncomingMessage, response: ServerResponse) => {
    try {
      const request = toRequest(message, response)
      if (request === undefined) return void response.writeHead(400).end()
      write(await reply(request, { remoteAddress: message.socket.remoteAddress }), message, response)
    } catch {
      response.destroy()
    }
  }
  return (message, response) => {
    // Wait one tick. Most bodies arrive together with their head, and node:http emits such a body later in this turn.
    if (announcesBody(message)) process.nextTick(serve, message, response)
    else void serve(message, response)
  }
}

/** Minimum length in characters at which a body is encoded before it is sent (our choice). */
const LONG = 4096

/** Writes a response to the socket. A complete body is written immediately, and a stream as it is read. */
function write(answer: Reply | Response, message: IncomingMessage, response: ServerResponse): void {
  if (answer instanceof Response) {
    if (answer.body === null) return void response.writeHead(answer.status, headersOf(answer)).end()
    return void sendStream(answer, answer.body, message, response).catch(() => response.destroy())
  }
  const { status, headers, body } = answer
  if (body === '') return void response.writeHead(status, headers).end()
  // Encode a long string once. Otherwise it would be copied three times: to measure it, to append it to the headers,
  // and for the socket.
  const sent = body.length > LONG ? Buffer.from(body) : body
  response.writeHead(status, { 'content-length': Buffer.byteLength(sent), ...headers }).end(sent)
}

type MakeRequest = (message: IncomingMessage, response: ServerResponse, base: string) => Request

/**
 * Creates the function that makes requests. It returns undefined for a message from which no URL or Request can be
 * created.
 */
function requestMaker(make: MakeRequest): (message: IncomingMessage, response: ServerResponse) => Request | undefined {
  // Most requests have the same host as the one before, so its base URL is cached.
  let host: string | undefined
  let base = 'http://localhost'
  return (message, response) => {
    const { method = 'GET', url = '/', headers } = message
    if (!url.startsWith('/') || method === 'TRACE') return undefined
    if (headers.host !== host) {
      host = headers.host
      base = baseOf(host)
    }
    try {
      return make(message, response, base)
    } catch {
      return undefined // The method is one that a Request cannot have, such as TRACK.
    }
  }
}

/**
 * Returns the base URL for a Host header. No decision depends on that header, so an unusual value is replaced by
 * `localhost`.
 */
function baseOf(host = 'localhost'): string {
  const base = `http://${host}`
  // A slash in the host would become part of the path.
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(base) ? new URL(base).origin : 'http://localhost'
}

const wholeRequest: MakeRequest = (message, response, base) =>
  realRequest(message, response, base + (message.url ?? '/'), goneSignal(message, response))

function headersOf({ headers }: Response): string[] {
  const list: string[] = []
  // Cookies are the only header with several values. Iteration yields each of them.
  for (const [name, value] of headers) list.push(name, value)
  return list
}

/** Adds the content length, unless the handler has set a length or an encoding itself. */
const withLength = (list: readonly string[], length: number): string[] =>
  list.includes('content-length') || list.includes('transfer-encoding')
    ? [...list]
    : ['content-length', String(length), ...list]

/**
 * Maximum number of bytes, and of pieces, that are read from a body before the response's head is sent (our choice).
 */
const MOST_EARLY = 64 * 1024
const MOST_PIECES = 4

async function sendStream(
  answer: Response,
  body: ReadableStream<Uint8Array>,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const headers = headersOf(answer)
  let isGone = false
  let onEnd = () => {}
  onGone(message, response, () => {
    isGone = true
    onEnd()
  })
  if (message.method === 'HEAD' || isGone) {
    response.writeHead(answer.status, headers).end()
    return body.cancel()
  }
  const reader = body.getReader()
  let drained = () => {}
  response.on('drain', () => drained())
  onEnd = () => {
    reader.cancel().catch(() => {})
    drained()
  }
  // A body that is complete within this turn is sent together with its head. The head never waits longer than this
  // turn.
  let early: Uint8Array[] | undefined = []
  let size = 0
  const sendHead = () => {
    clearImmediate(turn)
    if (isGone || early === undefined) return
    response.writeHead(answer.status, headers).flushHeaders()
    for (const piece of early) response.write(piece)
    early = undefined
  }
  const turn = setImmediate(sendHead)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (early !== undefined) {
        early.push(value)
        size += value.byteLength
        if (size > MOST_EARLY || early.length >= MOST_PIECES) sendHead()
      } else response.write(value)
      if (response.writableNeedDrain && !isGone) await new Promise<void>((resolve) => (drained = resolve))
    }
  } catch (error) {
    // Send the bytes that were read before the failure. Without the delay of the head, they would have been sent
    // already.
    if (early?.length !== 0) await new Promise((sent) => (sendHead(), response.write('', sent)))
    throw error
  } finally {
    clearImmediate(turn)
  }
  if (early === undefined) response.end()
  else response.writeHead(answer.status, withLength(headers, size)).end(Buffer.concat(early))
}
