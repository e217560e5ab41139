import type { IncomingMessage, ServerResponse } from 'node:http'
import { incomingBody } from './incoming-body.js'
import { onSocketEnd } from './socket-end.js'

export const pairsOf = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length >> 1 }, (_, index) => [raw[2 * index] as string, raw[2 * index + 1] as string])

/** Requests by the signal they follow. */
const following = new WeakMap<AbortSignal, Request>()

/**
 * A Request follows the signal it was made with only as long as it is in memory, while handlers and streams may keep no
 * more than its `signal`. So it stays in memory as long as the signal that it follows.
 */
export function keptWith(signal: AbortSignal, request: Request): Request {
  following.set(signal, request)
  return request
}

/** @throws TypeError for methods such as TRACE, which a Request cannot have. */
export function realRequest(
  message: IncomingMessage,
  response: ServerResponse,
  url: string,
  signal: AbortSignal,
  body = incomingBody(message, response),
): Request {
  const init: RequestInit & { duplex?: 'half' } = {
    method: message.method ?? 'GET',
    headers: pairsOf(message.rawHeaders),
    signal,
  }
  if (body instanceof Uint8Array) init.body = body
  else if (body !== undefined) Object.assign(init, { body: body.stream(), duplex: 'half' })
  return keptWith(signal, new Request(url, init))
}

/** Shared by all signals: creating an error with its stack takes longer than the abort itself. */
const GONE = new DOMException('This operation was aborted', 'AbortError')

/** Aborted by `onGone`. */
export function goneSignal(message: IncomingMessage, response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  onGone(message, response, () => gone.abort(GONE))
  return gone.signal
}

/**
 * Calls `gone`, possibly twice, when the answer is sent or the connection closes, even while earlier requests of the
 * connection are being answered.
 */
export function onGone({ socket }: IncomingMessage, response: ServerResponse, gone: () => void): void {
  if (response.closed) gone()
  const forget = onSocketEnd(socket, gone)
  response.once('close', () => {
    forget()
    gone()
  })
}
