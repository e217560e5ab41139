import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from './problem.js'

export const pairsOf = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length >> 1 }, (_, index) => [raw[2 * index] as string, raw[2 * index + 1] as string])

/** Whether a message announces a body at all. */
const hasBody = ({ method, headers }: IncomingMessage) =>
  method !== 'GET' && method !== 'HEAD' && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)

/** @throws TypeError for methods such as TRACE. */
export function realRequest(message: IncomingMessage, response: ServerResponse, url: string, signal: AbortSignal): Request {
  // What the handler leaves unread would block the connection for the next request.
  response.once('finish', () => message.removeAllListeners('data').resume())
  const init: RequestInit & { duplex?: 'half' } = {
    method: message.method ?? 'GET',
    headers: pairsOf(message.rawHeaders),
    signal,
  }
  if (hasBody(message)) Object.assign(init, { body: bodyOf(message), duplex: 'half' })
  return new Request(url, init)
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

export const bodyTooLarge = (maxBytes: number): Problem =>
  new Problem(413, 'body-too-large', `the body is larger than ${maxBytes} bytes`, { headers: { connection: 'close' } })

export const bodyBroken = (): Problem => new Problem(400, 'body-broken', 'the body broke off')

const READ_ALREADY = 'the body was read already: mount this API before whatever parses bodies'
const NO_BYTES = new Uint8Array()

/**
 * The bytes of a message's body, but no more than `maxBytes` of them. Rejects with a `Problem` if there are more, and if the
 * body breaks off; with an Error if someone else read it.
 */
export function readMessage(message: IncomingMessage, response: ServerResponse, maxBytes: number): Promise<Uint8Array> {
  if (!hasBody(message)) return Promise.resolve(NO_BYTES)
  if (message.readableEnded) return Promise.reject(new Error(READ_ALREADY))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.byteLength
      chunks.push(chunk)
      if (size <= maxBytes) return
      // The answer first; what follows is thrown away, and so does not block the connection.
      message.off('data', onData).pause()
      response.once('finish', () => message.resume())
      reject(bodyTooLarge(maxBytes))
    }
    message.on('data', onData)
    message.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    message.on('error', () => reject(bodyBroken()))
  })
}
