import { STATUS_CODES } from 'node:http'

/** What is known about a request's connection. `nodeListener` fills it in. */
export interface Connection {
  /** The address of the socket's peer. */
  readonly remoteAddress?: string | undefined
}

/**
 * Handles a request: `(Request) → Promise<Response>`. Never rejects. Servers that know the socket pass its address in
 * `connection`.
 */
export type HttpHandler = (request: Request, connection?: Connection) => Promise<Response>

/**
 * A complete response as plain data. A Response object is avoided, because creating it takes longer than all other work
 * on a request.
 */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body; empty for a response without a body. */
  readonly body: string
}

/** A handler that may return a plain reply instead of a Response. Never rejects. */
export type Replier = (request: Request, connection: Connection) => Promise<Reply | Response>

const repliers = new WeakMap<HttpHandler, Replier>()

/** Turns a replier into an ordinary handler. `nodeListener` calls the replier directly, which is faster. */
export function handlerOf(reply: Replier): HttpHandler {
  const handler: HttpHandler = async (request, connection = {}) => responseOf(await reply(request, connection))
  repliers.set(handler, reply)
  return handler
}

export const replierOf = (handler: HttpHandler): Replier => repliers.get(handler) ?? handler

function responseOf(reply: Reply | Response): Response {
  if (reply instanceof Response) return reply
  const { status, headers, body } = reply
  return new Response(body === '' ? null : body, { status, headers })
}

export interface ProblemOptions {
  /** Milliseconds after which a repeated request may succeed. Sent as Retry-After in whole seconds, rounded up. */
  readonly retryAfterMs?: number | undefined
  /** The invalid key of the input, e.g. `data.map`. */
  readonly field?: string | undefined
  /** Further members of the problem document, e.g. the id of the conflicting object. */
  readonly members?: Readonly<Record<string, string | number | readonly string[]>> | undefined
  /** Further headers of the response, e.g. Allow. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * The error that a handler throws to reject a request. The response is a problem document (RFC 9457) that also has
 * `message`, which existing game clients read, and `code`, which programs compare.
 */
export class Problem extends Error {
  readonly status: number
  /** The reason in kebab case, for programs. It stays the same if the message is reworded. */
  readonly code: string
  readonly options: ProblemOptions

  static {
    this.prototype.name = 'Problem'
  }

  constructor(status: number, code: string, message: string, options: ProblemOptions = {}) {
    super(message)
    this.status = status
    this.code = code
    this.options = options
  }
}

/** Returns the response for a problem. */
export const problemResponse = (problem: Problem): Response => responseOf(problemReply(problem))

export function problemReply(problem: Problem): Reply {
  const { retryAfterMs, headers } = problem.options
  return {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
      ...headers,
    },
    body: JSON.stringify(problemDocument(problem)),
  }
}

/** Returns the problem's document: the body of its response, or a part of a response about several inputs. */
export function problemDocument({
  status,
  code,
  message,
  options,
}: Problem): Readonly<Record<string, string | number | readonly string[]>> {
  const { retryAfterMs, field, members } = options
  return {
    ...members,
    type: `urn:muster:problem:${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    message,
    code,
    ...(field === undefined ? {} : { field }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }),
  }
}

/** Makes the problem of a body that is not read completely. Its connection is closed, because it cannot be reused. */
const refusal = (status: number, code: string, message: string) =>
  new Problem(status, code, message, { headers: { connection: 'close' } })

export const bodyTooLarge = (maxBytes: number): Problem =>
  refusal(413, 'body-too-large', `the body is larger than ${maxBytes} bytes`)

export const bodyBroken = (): Problem => new Problem(400, 'body-broken', 'The body ended early. Send it again.')

export const bodyTooSlow = (timeoutMs: number): Problem =>
  refusal(408, 'body-too-slow', `the body did not come within ${timeoutMs} ms`)

export const bodySuperseded = (): Problem =>
  refusal(408, 'body-superseded', 'too many other bodies began before this one was complete; send it again')
