import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface InTurnOptions {
  readonly onRequest: RequestListener
  /** Ends a connection on which more requests wait than may. */
  readonly end: (socket: Socket) => void
  /** Requests of a connection that may wait for the answers before theirs. Default 64. */
  readonly most?: number | undefined
}

/** More than clients pipeline that do: undici takes 10 at most as advised, and proxies do not (our choice). */
const MOST_WAITING = 64

/** What a connection has under way and waiting. */
interface Line {
  isBusy: boolean
  readonly waiting: { readonly message: IncomingMessage; readonly response: ServerResponse }[]
}

/**
 * Answers the requests of a connection one after another, each in a turn of the event loop of its own.
 *
 * node:http hands over all requests of a piece of 64 KiB within one turn: a few hundred pipelined connections would
 * keep everybody else waiting for seconds. Its responses emit `close` only once it is their turn, too: what was begun
 * behind an unanswered request would never be known to have ended.
 *
 * A connection is ended on which more requests wait than may: each of them takes memory.
 */
export function inTurn({ onRequest, end, most = MOST_WAITING }: InTurnOptions): RequestListener {
  const lines = new WeakMap<Socket, Line>()

  const begin = (line: Line, message: IncomingMessage, response: ServerResponse): void => {
    line.isBusy = true
    // Answered within the turn, the rest of the piece may still come within it.
    response.once('close', () => setImmediate(goOn, line, message.socket))
    onRequest(message, response)
  }
  const goOn = (line: Line, socket: Socket): void => {
    // It was ended, or ends with the last answer.
    if (!socket.writable) return void line.waiting.splice(0)
    // Whoever pauses a connection does not want its next request either.
    if (socket.isPaused()) return void socket.once('resume', () => goOn(line, socket))
    const next = line.waiting.shift()
    if (next === undefined) line.isBusy = false
    else begin(line, next.message, next.response)
  }

  return (message, response) => {
    const { socket } = message
    // What follows in the same piece is handed over all the same.
    if (socket.destroyed) return
    let line = lines.get(socket)
    if (line === undefined) lines.set(socket, (line = { isBusy: false, waiting: [] }))
    if (!line.isBusy) return begin(line, message, response)
    if (line.waiting.length < most) return void line.waiting.push({ message, response })
    line.waiting.length = 0
    end(socket)
  }
}
