import type { IncomingMessage, ServerResponse } from 'node:http'
import { lazyRequest } from './lazy-request.js'
import { goneSignal, realRequest } from './message.js'
import { replierOf, type HttpHandler, type Replier } from './reply.js'

/** `http.createServer(nodeListener(handler))`: serves a handler by node:http, and Express and its like. */
export function nodeListener(handler: HttpHandler): (message: IncomingMessage, response: ServerResponse) => void {
  const reply = replierOf(handler)
  // Whoever has a replier of their own knows what can be asked of a lazy request.
  const toRequest = requestMaker(reply === handler ? wholeRequest : lazyRequest)
  return (message, response) => {
    serve(reply, toRequest(message, response), message, response).catch(() => response.destroy())
  }
}

async function serve(
  reply: Replier,
  request: Request | undefined,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request === undefined) {
    response.writeHead(400).end()
    return
  }
  const answer = await reply(request, { remoteAddress: message.socket.remoteAddress })
  if (answer instanceof Response) return send(answer, request.signal, message, response)
  const { status, headers, body } = answer
  // A list, which node:http takes as it is.
  const list = body === '' ? [] : ['content-length', String(Buffer.byteLength(body))]
  for (const name in headers) list.push(name, headers[name] as string)
  response.writeHead(status, list)
  if (body === '') response.end()
  else response.end(body)
}

/** @param gone aborted when nobody reads on. */
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

/** Undefined for what no URL can be made of. */
function requestMaker(make: MakeRequest): (message: IncomingMessage, response: ServerResponse) => Request | undefined {
  // Most requests name the same host as the one before.
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

/** What stands in Host decides nothing here, so a strange one is left out. */
function baseOf(host = 'localhost'): string {
  const base = `http://${host}`
  // A slash in it would become part of the path.
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
