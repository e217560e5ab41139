import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpHandler } from './http-api.js'

/** `http.createServer(nodeListener(handler))`: serves a handler by node:http, and Express and its like. */
export function nodeListener(handler: HttpHandler): (message: IncomingMessage, response: ServerResponse) => void {
  return (message, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    serve(handler, message, response, gone.signal).catch(() => response.destroy())
  }
}

async function serve(handler: HttpHandler, message: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
  // What the handler left unread would block the connection for the next request.
  response.once('finish', () => message.removeAllListeners('data').resume())
  const request = requestOf(message, signal)
  if (request === undefined) {
    response.writeHead(400).end()
    return
  }
  const answer = await handler(request, { remoteAddress: message.socket.remoteAddress })
  response.writeHead(answer.status, [...answer.headers].flat())
  if (answer.body === null || message.method === 'HEAD' || signal.aborted) {
    response.end()
    await answer.body?.cancel()
    return
  }
  response.flushHeaders()
  const reader = answer.body.getReader()
  signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (!response.write(value) && !signal.aborted) await drained(response)
  }
  response.end()
}

/** Undefined for what no URL can be made of. */
function requestOf(message: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', headers } = message
  // What stands in Host decides nothing here, so a strange one is left out.
  const origin = `http://${headers.host ?? 'localhost'}`
  const base = URL.canParse(origin) ? origin : 'http://localhost'
  if (!url.startsWith('/') || !URL.canParse(base + url)) return undefined
  const init: RequestInit & { duplex?: 'half' } = { method, headers: headersOf(message), signal }
  const hasBody = method !== 'GET' && method !== 'HEAD' && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
  if (hasBody) Object.assign(init, { body: bodyOf(message), duplex: 'half' })
  try {
    return new Request(base + url, init)
  } catch {
    return undefined // methods such as TRACE
  }
}

function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const pairs: [string, string][] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] as string, rawHeaders[index + 1] as string])
  }
  return pairs
}

/** Not `Readable.toWeb`, whose cancelling closes the socket before the answer is sent. */
function bodyOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      message.on('data', (chunk: Buffer) => {
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) message.pause()
      })
      message.once('end', () => controller.close())
      message.once('error', (error) => controller.error(error))
      message.pause()
    },
    pull: () => {
      message.resume()
    },
    cancel: () => {
      message.removeAllListeners('data').removeAllListeners('end').resume()
    },
  })
}

const drained = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.once('drain', done).once('close', done)
  })
