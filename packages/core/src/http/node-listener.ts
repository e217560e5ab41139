import type { IncomingMessage, ServerResponse } from 'node:http'
import { announcesBody } from './incoming-body.js'
import { lazyRequest } from './lazy-request.js'
import { goneSignal, realRequest } from './message.js'
import { replierOf, type HttpHandler, type Reply } from './reply.js'

/** `http.createServer(nodeListener(handler))` serves a handler with node:http, Express and similar servers. */
export function nodeListener(handler: HttpHandler): (message: IncomingMessage, response: ServerResponse) => void {
  const reply = replierOf(handler)
  // Handlers with a replier are our own, and use only what a lazy request offers. Others get a full request.
  const toRequest = requestMaker(reply === handler ? wholeRequest : lazyRequest)
  const serve = (message: IncomingMessage, response: ServerResponse) => {
    try {
      const request = toRequest(message, response)
      if (request === undefined) return void response.writeHead(400).end()
      const answer = reply(request, { remoteAddress: message.socket.remoteAddress })
      if (!(answer instanceof Promise)) return write(answer, request, message, response)
      answer.then((known) => write(known, request, message, response)).catch(() => response.destroy())
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

function write(
  answer: Reply | Response,
  request: Request,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  if (answer instanceof Response)
    return void send(answer, request.signal, message, response).catch(() => response.destroy())
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

/** @param gone aborted when the client no longer reads. */
async function send(
  answer: Response,
  gone: AbortSignal,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(answer.status, [...answer.headers].flat())
  if (answer.body === null || message.method === 'HEAD' || gone.aborted) {
    response.end()
    await answer.body?.cancel()
    return
  }
  response.flushHeaders()
  const reader = answer.body.getReader()
  gone.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (!response.write(value) && !gone.aborted) await drained(response, gone)
  }
  response.end()
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
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(base) ? base : 'http://localhost'
}

const wholeRequest: MakeRequest = (message, response, base) =>
  realRequest(message, response, base + (message.url ?? '/'), goneSignal(message, response))

const drained = (response: ServerResponse, gone: AbortSignal) =>
  new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done)
      gone.removeEventListener('abort', done)
      resolve()
    }
    response.once('drain', done)
    gone.addEventListener('abort', done, { once: true })
  })
