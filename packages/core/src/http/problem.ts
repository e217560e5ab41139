import { STATUS_CODES } from 'node:http'
import { responseOf, type Reply } from './reply.js'

export interface ProblemOptions {
  /** Milliseconds after which a repeat may succeed; sent as Retry-After in whole seconds, rounded up. */
  readonly retryAfterMs?: number | undefined
  /** The key of the input at fault, e.g. `data.map`. */
  readonly field?: string | undefined
  /** Further members of the document, e.g. the id of the object in conflict. */
  readonly members?: Readonly<Record<string, string | number>> | undefined
  /** Further headers of the answer, e.g. Allow. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * What a handler throws to refuse a request. The answer is a problem document (RFC 9457) that also has
 * `message`, which existing game clients read, and `code`, which programs compare.
 */
export class Problem extends Error {
  readonly status: number
  /** The reason in kebab case, for programs: it stays the same when the message is reworded. */
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

/** The problem's document: the body of its answer, or a part of an answer about several inputs. */
export function problemDocument({
  status,
  code,
  message,
  options,
}: Problem): Readonly<Record<string, string | number>> {
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
