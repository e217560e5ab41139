import type { IncomingMessage, ServerResponse } from 'node:http'
import { partsOf, type LightAnswer } from './light-response.js'
import { onGone } from './message.js'

/** Writes a Response to the socket: a body of known bytes at once, any other as it is read. */
export function sendResponse(answer: Response, message: IncomingMessage, response: ServerResponse): void {
  const parts = partsOf(answer)
  if (parts !== undefined) return sendParts(parts, response)
  const body = knownBody(answer)
  if (body === undefined) return void sendStream(answer, message, response).catch(() => response.destroy())
  sendParts({ status: answer.status, headers: headersOf(answer), body }, response)
}

function sendParts({ status, headers, body }: LightAnswer, response: ServerResponse): void {
  if (body === null) return void response.writeHead(status, headers as string[]).end()
  response.writeHead(status, withLength(headers, Buffer.byteLength(body)))
  // A long text would be copied for its length, again behind the headers, and again for the socket.
  response.end(typeof body === 'string' && body.length > LONG ? Buffer.from(body) : body)
}

/** Characters from which on a body is encoded before it is sent (our choice). */
const LONG = 4096

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

/** The symbol, if what stands under it has the shape that is read here. */
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
