import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyBroken, bodyTooLarge, type Problem } from './answers.js'

/** Maximum number of bytes that are buffered from a message before a handler reads its body (our choice). */
const MOST_UNASKED = 64 * 1024

const READ_ALREADY = 'the body was read already: mount this API before whatever parses bodies'

/**
 * Starts reading a message's body. Returns its bytes if all of them have arrived, as is usual one turn after the head.
 * Returns undefined for a message without a body. The body of a GET is discarded, because a Request of method GET
 * cannot have one.
 */
export function incomingBody(
  message: IncomingMessage,
  response: ServerResponse,
): IncomingBody | Uint8Array<ArrayBuffer> | undefined {
  if (!announcesBody(message)) return undefined
  const { method } = message
  if (method !== 'GET' && method !== 'HEAD') return wholeBody(message) ?? new IncomingBody(message, response)
  message.resume()
  return undefined
}

export const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Reads a body that has arrived completely, unless something else has begun to read it. */
function wholeBody(message: IncomingMessage): Uint8Array<ArrayBuffer> | undefined {
  const { readableLength, readableFlowing, readableEncoding, headers } = message
  if (readableLength === 0 || readableLength !== Number(headers['content-length'])) return undefined
  if (readableFlowing !== null || readableEncoding !== null || message.listenerCount('readable') > 0) return undefined
  const bytes = message.read() as Uint8Array<ArrayBuffer>
  message.resume() // Reads the end of the message, which is all that remains.
  return bytes
}

/**
 * Does nothing on an error. An error also closes the message, and the close is handled. Without a listener, the error
 * would end the process.
 */
const heard = () => {}

/** Callbacks about a body that arrives in more than one piece: `unfinished` at the second piece, `over` at the end. */
export interface BodyWatcher {
  readonly unfinished: () => void
  readonly over: () => void
}

const UNWATCHED: BodyWatcher = { unfinished: () => {}, over: () => {} }

/**
 * The body of a node:http message, copied into one buffer as it arrives. node:http itself keeps unread pieces as
 * separate objects, which takes hundreds of bytes for each piece of a body sent byte by byte.
 */
export class IncomingBody {
  readonly #message: IncomingMessage
  readonly #bytes = new ByteBuffer()
  readonly #wasRead: boolean
  /** The announced length; NaN for a chunked body. */
  readonly #length: number
  #state: 'arriving' | 'whole' | 'broken' | 'dropped' = 'arriving'
  #pieces = 0
  /** Number of bytes received, including those already taken. */
  #received = 0
  /**
   * Why the body was dropped; undefined without a reason. A reason is optional, because creating an error that is never
   * shown is expensive.
   */
  #why: Problem | undefined
  /** Maximum size, set once the body is gathered. Until then, bytes beyond `MOST_UNASKED` wait in the message. */
  #maxBytes: number | undefined
  #watcher: BodyWatcher | undefined
  /** Notifies the waiting reader that bytes arrived. */
  #changed = () => {}

  constructor(message: IncomingMessage, response: ServerResponse) {
    this.#message = message
    this.#wasRead = message.readableEnded
    this.#length = Number(message.headers['content-length'])
    message.on('data', this.#onData)
    // The event `end` is needed only without a known length. Otherwise, the length tells which piece is the last.
    if (Number.isNaN(this.#length) || this.#length === 0) message.on('end', () => this.#settle('whole'))
    message.on('error', heard)
    message.on('close', () => this.#settle('broken'))
    // Unread bytes would block the connection's next request.
    response.on('finish', () => {
      if (this.#state !== 'whole') this.drop()
    })
  }

  /** Number of bytes received and not yet taken. */
  get size(): number {
    return this.#bytes.size
  }

  /** Allocated memory in bytes. */
  get capacity(): number {
    return this.#bytes.capacity
  }

  get isArriving(): boolean {
    return this.#state === 'arriving'
  }

  /** Gathers the whole body, unless it is larger than `maxBytes`. */
  gather(maxBytes: number, watcher: BodyWatcher): void {
    this.#maxBytes = maxBytes
    this.#watcher = watcher
    if (this.#state !== 'arriving') return
    // Pieces may have arrived before this call.
    if (this.#bytes.size > maxBytes) return this.drop(bodyTooLarge(maxBytes))
    if (this.#pieces > 1) watcher.unfinished()
    this.#message.resume()
  }

  /**
   * Returns the whole of a gathered body. Rejects with a `Problem` if the body is too large, truncated or dropped; with
   * an Error if something else has read it.
   */
  whole(): Promise<Uint8Array> {
    if (this.#wasRead) return Promise.reject(new Error(READ_ALREADY))
    if (this.#state === 'whole') return Promise.resolve(this.#bytes.drain())
    return new Promise((resolve, reject) => {
      this.#changed = () => {
        if (this.#state === 'whole') resolve(this.#bytes.drain())
        else if (this.#state !== 'arriving') reject(this.#why ?? bodyBroken())
      }
      this.#changed()
    })
  }

  /** Returns the whole body without a limit. Use it instead of `gather` and `whole`. */
  all(): Promise<Uint8Array> {
    this.gather(Infinity, UNWATCHED)
    return this.whole()
  }

  /**
   * Returns the body as a stream. Use it instead of `whole`. Each piece holds the bytes that arrived between two reads.
   */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) =>
          new Promise((resolve) => {
            this.#changed = () => {
              if (this.#bytes.size > 0) controller.enqueue(this.#bytes.drain())
              else if (this.#state === 'arriving') return
              else if (this.#state === 'whole') controller.close()
              else controller.error(this.#why ?? bodyBroken())
              this.#changed = () => {}
              resolve()
            }
            this.#message.resume()
            this.#changed()
          }),
        cancel: () => this.drop(),
      },
      { highWaterMark: 0 },
    )
  }

  /** Discards the bytes received so far, and all later bytes. */
  drop(why?: Problem): void {
    if (this.#state === 'arriving') this.#why = why
    this.#bytes.drain()
    this.#settle('dropped')
    this.#message.off('data', this.#onData).resume()
  }

  readonly #onData = (piece: Uint8Array) => {
    if (this.#pieces === 0 && piece.byteLength === this.#length) this.#bytes.adopt(piece)
    else this.#bytes.append(piece)
    this.#pieces += 1
    this.#received += piece.byteLength
    if (this.#maxBytes === undefined) {
      if (this.#bytes.size > MOST_UNASKED) this.#message.pause()
    } else if (this.#bytes.size > this.#maxBytes) return this.drop(bodyTooLarge(this.#maxBytes))
    // The received length shows the end earlier than the event of node:http, which comes after the handler has read.
    if (this.#received === this.#length) return this.#settle('whole')
    if (this.#pieces === 2) this.#watcher?.unfinished()
    this.#changed()
  }

  #settle(state: 'whole' | 'broken' | 'dropped'): void {
    if (this.#state !== 'arriving') return
    this.#state = state
    this.#watcher?.over()
    this.#changed()
  }
}

const NOTHING = new Uint8Array()
const SMALLEST = 256

/**
 * A growing buffer for bytes that arrive in pieces. Pieces are copied. Otherwise a body sent byte by byte would take
 * thousands of objects of some hundred bytes each.
 */
export class ByteBuffer {
  #bytes: Uint8Array = NOTHING
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Allocated memory in bytes: less than twice `size`, or the minimum size. */
  get capacity(): number {
    return this.#bytes.byteLength
  }

  append(piece: Uint8Array): void {
    const size = this.#size + piece.byteLength
    if (size > this.#bytes.byteLength) this.#grow(size)
    this.#bytes.set(piece, this.#size)
    this.#size = size
  }

  /** Stores a piece without copying it. It must be the only piece, and must not change afterwards. */
  adopt(piece: Uint8Array): void {
    this.#bytes = piece
    this.#size = piece.byteLength
  }

  /** Returns all bytes received so far and empties the buffer. */
  drain(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#size)
    this.#bytes = NOTHING
    this.#size = 0
    return taken
  }

  #grow(size: number): void {
    const grown = new Uint8Array(Math.max(size, SMALLEST, Math.min(2 * this.#bytes.byteLength, 2 * size)))
    grown.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = grown
  }
}
