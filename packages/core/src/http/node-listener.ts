import type { IncomingMessage, ServerResponse } from 'node:http'
import { announcesBody } from './incoming-body.js'
import { canStandIn, lazyRequest } from './lazy-request.js'
import { lightResponses } from './light-response.js'
import { goneSignal, realRequest } from './message.js'
import { replierOf, type HttpHandler, type Reply } from './reply.js'
import { sendResponse } from './send-response.js'

export interface NodeListenerOptions {
  /**
   * Whether the global `Response` stays as it is. Otherwise the first ordinary handler replaces it by one that makes
   * answers of text, bytes and JSON without a stream, and is the same in all else. Default false.
   */
  readonly keepGlobals?: boolean | undefined
}

/** `http.createServer(nodeListener(handler))` serves a handler with node:http, Express and similar servers. */
export function nodeListener(
  handler: HttpHandler,
  { keepGlobals = false }: NodeListenerOptions = {},
): (message: IncomingMessage, response: ServerResponse) => void {
  const reply = replierOf(handler)
  if (reply === handler && !keepGlobals) lightResponses()
  // Handlers with a replier are our own, and use only what a lazy request offers. Others may pass theirs on.
  const toRequest = requestMaker(reply === handler && !canStandIn ? wholeRequest : lazyRequest)
  const serve = (message: IncomingMessage, response: ServerResponse) => {
    try {
      const request = toRequest(message, response)
      if (request === undefined) return void response.writeHead(400).end()
      const answer = reply(request, { remoteAddress: message.socket.remoteAddress })
      if (!(answer instanceof Promise)) return write(answer, message, response)
      answer.then((known) => write(known, message, response)).catch(() => response.destroy())
    } catch {
      response.destroy()
    }
  }
  return (message, response) => {
    // Most bodies come in one piece with their head, and node:http passes on both within this turn.
    if (announcesBody(message)) process.nextTick(serve, message, response)
    else serve(message, response)
  }
}

/** Characters from which on a body is encoded before it is sent (our choice). */
const LONG = 4096

function write(answer: Reply | Response, message: IncomingMessage, response: ServerResponse): void {
  if (answer instanceof Response) return sendResponse(answer, message, response)
  const { status, headers, body } = answer
  // A long text would be copied for its length, again behind the headers, and again for the socket.
  const sent = body.length > LONG ? Buffer.from(body) : body
  const list = flat(headers)
  response.writeHead(status, body === '' ? [...list] : ['content-length', String(Buffer.byteLength(sent)), ...list])
  if (body === '') response.end()
  else response.end(sent)
}

/** The headers of the answer before: most answers share theirs. */
let last: { readonly headers: Reply['headers']; readonly list: readonly string[] } = { headers: {}, list: [] }

/** The headers as the flat list that node:http takes without converting it. */
function flat(headers: Reply['headers']): readonly string[] {
  if (headers !== last.headers) last = { headers, list: Object.entries(headers).flat() }
  return last.list
}

type MakeRequest = (message: IncomingMessage, response: ServerResponse, base: string) => Request

/** The maker returns undefined for a message from which no URL or Request can be made. */
function requestMaker(make: MakeRequest): (message: IncomingMessage, response: ServerResponse) => Request | undefined {
  // Most requests name the same host as the one before, so its base URL is kept.
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
      return undefined // methods such as TRACK
    }
  }
}

/** No decision depends on the Host header, so an unusual value is replaced by `localhost`. */
function baseOf(host = 'localhost'): string {
  const base = `http://${host}`
  // A slash in the host would become part of the path.
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(base) ? new URL(base).origin : 'http://localhost'
}

const wholeRequest: MakeRequest = (message, response, base) =>
  realRequest(message, response, base + (message.url ?? '/'), goneSignal(message, response))
