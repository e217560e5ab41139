import type { Connection } from './client-address.js'

/** `(Request) → Promise<Response>`, which never rejects. Servers that know the socket say so in `connection`. */
export type HttpHandler = (request: Request, connection?: Connection) => Promise<Response>

/** An answer that is at hand whole. To make a Response of it takes longer than all else that is done for a request. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty for none. */
  readonly body: string
}

/** What a handler does, before its answer is made a Response. Never rejects. */
export type Replier = (request: Request, connection: Connection) => Promise<Reply | Response>

const repliers = new WeakMap<HttpHandler, Replier>()

/** A handler that others can call as any; `nodeListener` knows a shorter way. */
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
