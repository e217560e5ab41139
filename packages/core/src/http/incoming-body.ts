import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyBroken, bodyTooLarge } from './body-problems.js'
import { ByteBuffer } from './byte-buffer.js'
import type { Problem } from './problem.js'

/** Bytes that are taken from a message before anybody has asked for them; our choice. */
const MOST_UNASKED = 64 * 1024

const READ_ALREADY = 'the body was read already: mount this API before whatever parses bodies'

/**
 * Begins to take a message's body; undefined for a message that announces none. That of a GET is thrown away: no
 * Request can have one.
 */
export function incomingBody(message: IncomingMessage, response: ServerResponse): IncomingBody | undefined {
  const { method, headers } = message
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return undefined
  if (method !== 'GET' && method !== 'HEAD') return new IncomingBody(message, response)
  message.resume()
  return undefined
}

/** An error closes the message, too; but one of which nobody hears would end the process. */
const heard = () => {}

/** Told of a body that comes in more than one piece: `unfinished` with the second, `over` when no more will come. */
export interface BodyWatcher {
  readonly unfinished: () => void
  readonly over: () => void
}

/**
 * The body of a message of node:http, taken from it as it comes, into one buffer. What node:http itself would keep of a
 * body in pieces of one byte until it is read takes hundreds of bytes for each.
 */
export class IncomingBody {
  readonly #message: IncomingMessage
  readonly #bytes = new ByteBuffer()
  readonly #wasRead: boolean
  /** NaN for a body in chunks. */
  readonly #length: number
  #state: 'arriving' | 'whole' | 'broken' | 'dropped' = 'arriving'
  #pieces = 0
  /** Bytes that have come, taken or not. */
  #received = 0
  /** Why it was dropped. Undefined where nobody said: an error that nobody sees would cost more than all the rest. */
  #why: Problem | undefined
  /** Undefined until it is gathered: then what is too much waits in the message. */
  #maxBytes: number | undefined
  #watcher: BodyWatcher | undefined
  /** Tells whoever waits for it that something came. */
  #changed = () => {}

  constructor(message: IncomingMessage, response: ServerResponse) {
    this.#message = message
    this.#wasRead = message.readableEnded
    this.#length = Number(message.headers['content-length'])
    message.on('data', this.#onData)
    // With a length, the last piece is known when it comes.
    if (Number.isNaN(this.#length) || this.#length === 0) message.on('end', () => this.#settle('whole'))
    message.on('error', heard)
    message.on('close', () => this.#settle('broken'))
    // What is left unread would keep the connection from its next request.
    response.on('finish', () => {
      if (this.#state !== 'whole') this.drop()
    })
  }

  /** Bytes that have come and were not taken. */
  get size(): number {
    return this.#bytes.size
  }

  /** Bytes of memory that it holds. */
  get capacity(): number {
    return this.#bytes.capacity
  }

  get isArriving(): boolean {
    return this.#state === 'arriving'
  }

  /** From now on all of it is taken, if that is no more than `maxBytes`. */
  gather(maxBytes: number, watcher: BodyWatcher): void {
    this.#maxBytes = maxBytes
    this.#watcher = watcher
  }

  /**
   * All of a body that is gathered. Rejects with a `Problem` if it is too large, breaks off or is dropped; with an
   * Error if someone else read the body before.
   */
  whole(): Promise<Uint8Array> {
    if (this.#wasRead) return Promise.reject(new Error(READ_ALREADY))
    if (this.#state === 'whole') return Promise.resolve(this.#bytes.take())
    return new Promise((resolve, reject) => {
      this.#changed = () => {
        if (this.#state === 'whole') resolve(this.#bytes.take())
        else if (this.#state !== 'arriving') reject(this.#why ?? bodyBroken())
      }
      this.#changed()
    })
  }

  /** Instead of `whole`: the same as a stream, in pieces of what has come between two reads. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) =>
          new Promise((resolve) => {
            this.#changed = () => {
              if (this.#bytes.size > 0) controller.enqueue(this.#bytes.take())
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

  /** Forgets what has come, and throws away what is still to come. */
  drop(why?: Problem): void {
    if (this.#state === 'arriving') this.#why = why
    this.#bytes.take()
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
    // Sooner than node:http says so, which is after the handler has asked.
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
