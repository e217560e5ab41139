import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HttpHandler, replierOf, type Reply } from './answers.js'
import { announcesBody } from './incoming-body.js'
import { canStandIn, goneSignal, lazyRequest, onGone, realRequest, takeLazyRequests } from './lazy-request.js'
import { type LightAnswer, lightResponses, partsOf } from './light-response.js'

export interface NodeListenerOptions {
  /**
   * Whether the global `Response` stays unchanged. Otherwise the first ordinary handler replaces it by one that makes
   * answers of text, bytes and JSON without a stream, and is the same in all else; from Node.js 24 on, also `Request`
   * and `fetch`, by ones that take a handler's lazy request. Default false.
   */
  readonly keepGlobals?: boolean | undefined
}

/** `http.createServer(nodeListener(handler))` serves a handler with node:http, Express and similar servers. */
export function nodeListener(
  handler: HttpHandler,
  { keepGlobals = false }: NodeListenerOptions = {},
): (message: IncomingMessage, response: ServerResponse) => void {
  const reply = replierOf(handler)
  if (reply === handler && !keepGlobals) {
    lightResponses()
    takeLazyRequests()
  }
  // Handlers with a replier are our own, and use only what a lazy request offers. Others may pass theirs on.
  const toRequest = requestMaker(reply === handler && !canStandIn() ? wholeRequest : lazyRequest)
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
    // Most bodies come in one piece with their head, and node:http passes on both within this turn.
    if (announcesBody(message)) process.nextTick(serve, message, response)
    else void serve(message, response)
  }
}

/** Writes an answer to the socket: a body of known bytes at once, any other as it is read. */
function write(answer: Reply | Response, message: IncomingMessage, response: ServerResponse): void {
  if (!(answer instanceof Response)) {
    const { status, headers, body } = answer
    return sendParts({ status, headers: Object.entries(headers).flat(), body: body === '' ? null : body }, response)
  }
  const parts = partsOf(answer)
  if (parts !== undefined) return sendParts(parts, response)
  const body = knownBody(answer)
  if (body === undefined) return void sendStream(answer, message, response).catch(() => response.destroy())
  sendParts({ status: answer.status, headers: headersOf(answer), body }, response)
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

/** Characters from which on a body is encoded before it is sent (our choice). */
const LONG = 4096

function sendParts({ status, headers, body }: LightAnswer, response: ServerResponse): void {
  if (body === null) return void response.writeHead(status, headers as string[]).end()
  response.writeHead(status, withLength(headers, Buffer.byteLength(body)))
  // A long text would be copied for its length, again behind the headers, and again for the socket.
  response.end(typeof body === 'string' && body.length > LONG ? Buffer.from(body) : body)
}

function headersOf({ headers }: Response): string[] {
  const list: string[] = []
  // Cookies are the only header that has several values. Iterating yields each.
  for (const [name, value] of headers) list.push(name, value)
  return list
}

/** A length, or an encoding, that the handler states itself is kept. */
const withLength = (list: readonly string[], length: number): string[] =>
  list.includes('content-length') || list.includes('transfer-encoding')
    ? [...list]
    : ['content-length', String(length), ...list]

/** What Node.js up to 22 keeps of a Response under a symbol. */
interface ResponseState {
  readonly body?: { readonly source?: unknown; readonly stream?: { readonly locked?: unknown } } | null
}

/** The symbol, if its value has the shape that is read here. */
const STATE = ((probe: Response) =>
  Object.getOwnPropertySymbols(probe).find((key) => stateOf(probe, key)?.body?.source === 'probe'))(
  new Response('probe'),
)

function stateOf(answer: Response, key: symbol): ResponseState | undefined {
  return (answer as unknown as Readonly<Record<symbol, ResponseState | undefined>>)[key]
}

/** A body given as text or bytes, null for none, and undefined if only its stream tells. */
function knownBody(answer: Response): string | Uint8Array | null | undefined {
  const source = STATE && stateOf(answer, STATE)?.body?.source
  if ((typeof source === 'string' || source instanceof Uint8Array) && !answer.bodyUsed && !answer.body?.locked)
    return source
  return answer.body === null ? null : undefined
}

/** Bytes and pieces that may be read before the head of an answer is sent (our choice). */
const MOST_EARLY = 64 * 1024
const MOST_PIECES = 4

async function sendStream(answer: Response, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = headersOf(answer)
  let isGone = false
  let onEnd = () => {}
  onGone(message, response, () => {
    isGone = true
    onEnd()
  })
  if (message.method === 'HEAD' || isGone) {
    response.writeHead(answer.status, headers).end()
    return answer.body?.cancel()
  }
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  let drained = () => {}
  response.on('drain', () => drained())
  onEnd = () => {
    reader.cancel().catch(() => {})
    drained()
  }
  // A body that is complete within this turn is sent together with its head; a head waits no longer than that.
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
    // What was read before the failure is sent, as it would have been a turn later.
    if (early?.length !== 0) await new Promise((sent) => (sendHead(), response.write('', sent)))
    throw error
  } finally {
    clearImmediate(turn)
  }
  if (early === undefined) response.end()
  else response.writeHead(answer.status, withLength(headers, size)).end(Buffer.concat(early))
}
