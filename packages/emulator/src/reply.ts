import type { Operation } from '@muster/core/api'
import type { Strike } from './faults.js'
import type { RateLimits } from './rate-limits.js'

/** A response before it is sent as a `Response` or to a socket. */
export interface Reply {
  readonly status: number
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** True if a fault ends the connection when half of the body has been sent. */
  readonly truncated?: true
}

export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const message = (status: number, text: string, headers?: Readonly<Record<string, string>>): Reply =>
  json(status, { message: text }, headers)

export const empty = (status: number): Reply => ({ status, headers: {}, body: undefined })

/** Thrown when a declared fault ends the connection without a response. */
export class ConnectionDropped extends Error {
  override readonly name = 'ConnectionDropped'
  constructor() {
    super('a declared fault has ended the connection')
  }
}

/** Converts the reply to a `Response` of fetch. */
export function toResponse({ status, headers, body, truncated }: Reply): Response {
  if (truncated && body !== undefined) return new Response(half(body), { status, headers })
  return new Response(body ?? null, { status, headers })
}

function half(body: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(body)
  let sent = false
  return new ReadableStream({
    pull: (controller) => {
      if (sent) return controller.error(new ConnectionDropped())
      sent = true
      controller.enqueue(bytes.subarray(0, bytes.length >> 1))
    },
  })
}

/** The form of a 429 response. The specification does not show it, so all usual forms are available. */
export interface TooManyAnswer {
  /** The form of Retry-After: whole seconds (rounded up), or the date of the earliest retry. False: no header. */
  readonly retryAfter: 'seconds' | 'date' | false
  /** `json`: the usual `{message}`. `text`: plain text, as gateways send. */
  readonly body: 'json' | 'text'
}

/**
 * Returns a 401 unless the request has the account's token as documented: `Authorization: token <TOKEN>`. For an
 * operation that needs a container's delete token, only the presence of a token is checked. The operation itself
 * compares it.
 */
export function unauthorized(operation: Operation, authorization: string | null, token: string): Reply | undefined {
  if (authorization === null || authorization === '') return message(401, 'the Authorization header is missing')
  if (operation.auth === 'delete-token' || authorization === `token ${token}`) return undefined
  return message(401, "the Authorization header is not 'token <API_TOKEN>' with a token of this service")
}

/** Returns a 429 if the operation's documented limit is used up; otherwise undefined. */
export function tooMany(
  operation: Operation,
  limits: RateLimits,
  answer: TooManyAnswer,
  now: number,
): Reply | undefined {
  const wait = limits.take(operation, now)
  if (wait === 0) return undefined
  const headers = retryAfter(answer.retryAfter, wait, now)
  if (answer.body === 'json') return message(429, `too many requests: ${operation.limit?.name}`, headers)
  return {
    status: 429,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: 'Too Many Requests',
  }
}

function retryAfter(form: TooManyAnswer['retryAfter'], wait: number, now: number): Readonly<Record<string, string>> {
  if (form === false) return {}
  // Dates have whole seconds. The date is rounded up, so that a client that waits until then does not retry too early.
  const date = () => new Date(Math.ceil((now + wait) / 1000) * 1000).toUTCString()
  return { 'retry-after': form === 'seconds' ? String(Math.ceil(wait / 1000)) : date() }
}

/** Returns an HTML page, as a proxy in front of a service responds. */
export const html = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: page(status),
})

const page = (status: number) =>
  `<!doctype html><html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`

/** Damages a response body as a declared fault requires. Pure. */
export function garble(reply: Reply, how: Strike['body']): Reply {
  // A 204 has no body to damage.
  if (how === undefined || reply.body === undefined) return reply
  switch (how) {
    case 'malformed':
      // Truncated JSON with an open bracket is never valid JSON.
      return { ...reply, body: `${reply.body.slice(0, -1)},` }
    case 'empty':
      return { ...reply, body: '' }
    case 'truncated':
      return { ...reply, truncated: true }
    case 'html':
      return { ...html(reply.status), headers: { ...reply.headers, ...html(reply.status).headers } }
  }
}
