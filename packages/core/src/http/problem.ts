import { STATUS_CODES } from 'node:http'

export interface ProblemOptions {
  /** Milliseconds after which a repeat may succeed; sent as Retry-After in whole seconds, rounded up. */
  readonly retryAfterMs?: number | undefined
  /** The key of the input at fault, e.g. `data.map`. */
  readonly field?: string | undefined
  /** Further headers of the answer, such as Allow. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * What a handler throws to refuse a request. The answer is a problem document (RFC 9457) that also has
 * `message`, which existing game clients read, and `code`, which programs compare.
 */
export class Problem extends Error {
  readonly status: number
  /** A word for programs, in kebab case: stays the same when the message is reworded. */
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

/** The answer for a problem. */
export function problemResponse({ status, code, message, options }: Problem): Response {
  const { retryAfterMs, field, headers } = options
  const document = {
    type: `urn:muster:problem:${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    message,
    code,
    ...(field === undefined ? {} : { field }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }),
  }
  return new Response(JSON.stringify(document), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
      ...headers,
    },
  })
}
