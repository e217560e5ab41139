import type { Answer } from './connection.js'
import { fits } from './shapes.js'

/** An answer that is a refusal, as problem documents say it (RFC 9457). */
export interface Refusal {
  /** HTTP status; 0: there was no answer. */
  readonly status: number
  /** For programs, e.g. `player-cooling-down`. */
  readonly code: string
  readonly message: string
  readonly field?: string
  readonly retryAfterMs?: number
}

/** A wish that did not come true. */
export class MusterError extends Error {
  override readonly name = 'MusterError'
  /**
   * For programs: `player-cooling-down`, `unauthorized`, `unknown-profile`, …; of a search that has ended, its
   * reason: `cancelled`, `expired`, `declined`, …; `superseded`: another wish came before the answer; `closed`;
   * `wrong-answer`: the answer has another shape than those of Muster.
   */
  readonly code: string
  /** HTTP status; 0: there was no answer, or it is no answer. */
  readonly status: number
  /** Milliseconds after which the same may work. */
  readonly retryAfterMs: number | undefined
  /** The field of the request that is wrong. */
  readonly field: string | undefined

  constructor({ code, status, message, retryAfterMs, field }: Refusal) {
    super(message)
    this.code = code
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.field = field
  }
}

/** What an answer says that is not good. */
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

/** Of an answer that says it is good, and is not what Muster answers: it is from a proxy, or from another version. */
export const WRONG_ANSWER: Refusal = {
  status: 0,
  code: 'wrong-answer',
  message: 'The answer does not have the shape of an answer of Muster.',
}

/** What a good answer says. @throws {MusterError} for a refusal, for one of another shape, or where none came */
export function goodBody(answer: Answer, shape: string): unknown {
  if (answer.status >= 200 && answer.status < 300) {
    if (fits(shape, answer.body)) return answer.body
    throw new MusterError(WRONG_ANSWER)
  }
  throw new MusterError(refusalOf(answer))
}
