import type { Answer } from './connection.js'
import { fits } from './shapes.js'

/** A refusal by Muster, from a problem document (RFC 9457). */
export interface Refusal {
  /** HTTP status. 0 if no response arrived. */
  readonly status: number
  /** A code for programs, e.g. `player-cooling-down`. */
  readonly code: string
  readonly message: string
  readonly field?: string
  readonly retryAfterMs?: number
}

/** The error with which a failed command rejects. */
export class MusterError extends Error {
  override readonly name = 'MusterError'
  /**
   * A code for programs: `player-cooling-down`, `unauthorized`, `unknown-profile`, …. If a search has ended, the code
   * is the reason: `cancelled`, `expired`, `declined`, …. `superseded`: another command was issued before the response.
   * `closed`: the client was closed. `wrong-answer`: the response has an unknown shape.
   */
  readonly code: string
  /** HTTP status. 0 if no response arrived, or if the response was not from Muster. */
  readonly status: number
  /** Milliseconds after which a retry may succeed. */
  readonly retryAfterMs: number | undefined
  /** The field of the request that is invalid. */
  readonly field: string | undefined

  constructor({ code, status, message, retryAfterMs, field }: Refusal) {
    super(message)
    this.code = code
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.field = field
  }
}

/** Returns the refusal in an unsuccessful response. */
export function refusalOf({ status, body, retryAfterMs = 0 }: Answer): Refusal {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const text = (name: string) => (typeof problem[name] === 'string' ? (problem[name] as string) : undefined)
  const field = text('field')
  return {
    status,
    code: text('code') ?? (status === 401 ? 'unauthorized' : status === 0 ? 'offline' : `http-${status}`),
    message: text('detail') ?? text('message') ?? `The answer was ${status}.`,
    ...(field !== undefined && { field }),
    ...(retryAfterMs > 0 && { retryAfterMs }),
  }
}

/**
 * The refusal for a 2xx response of a shape that Muster never sends. It comes from a proxy or another version of
 * Muster.
 */
export const WRONG_ANSWER: Refusal = {
  status: 0,
  code: 'wrong-answer',
  message: 'The answer is not a valid answer of Muster.',
}

/**
 * Returns the body of a successful response. @throws {MusterError} for a refusal, for a body of another shape, or if no
 * response arrived
 */
export function goodBody(answer: Answer, shape: string): unknown {
  if (answer.status >= 200 && answer.status < 300) {
    if (fits(shape, answer.body)) return answer.body
    throw new MusterError(WRONG_ANSWER)
  }
  throw new MusterError(refusalOf(answer))
}
