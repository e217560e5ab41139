import type { Awaitable } from '../runtime/awaitable.js'
import type { Connection } from './client-address.js'

/** `(Request) → Promise<Response>`; never rejects. Servers that know the socket pass its address in `connection`. */
export type HttpHandler = (request: Request, connection?: Connection) => Promise<Response>

/** A complete answer as plain data. Creating a Response takes longer than all other work on a request. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty for an answer without a body. */
  readonly body: string
}

/** JSON that a handler has written itself, where that takes less time than writing its value. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A handler that may return a plain reply instead of a Response, and at once. Never throws, never rejects. */
export type Replier = (request: Request, connection: Connection) => Awaitable<Reply | Response>

const repliers = new WeakMap<HttpHandler, Replier>()

/** Makes an ordinary handler of a replier. `nodeListener` calls the replier directly, which is faster. */
export function handlerOf(reply: Replier): HttpHandler {
  const handler: HttpHandler = async (request, connection = {}) => responseOf(await reply(request, connection))
  repliers.set(handler, reply)
  return handler
}

export const replierOf = (handler: HttpHandler): Replier => repliers.get(handler) ?? handler

export function responseOf(reply: Reply | Response): Response {
  if (reply instanceof Response) return reply
  const { status, headers, body } = reply
  return new Response(body === '' ? null : body, { status, headers })
}
