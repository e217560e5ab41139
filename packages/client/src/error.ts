import type { Refusal } from './state.js'

/** A wish that did not come true. */
export class MusterError extends Error {
  override readonly name = 'MusterError'
  /**
   * For programs: `player-cooling-down`, `unauthorized`, `unknown-profile`, …; of a search that has ended, its
   * reason: `cancelled`, `expired`, `declined`, …
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
