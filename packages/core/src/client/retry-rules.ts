import type { Method } from '../operation.js'
import { AlreadyTerminated, ConnectionLost, NotFound, ServerError } from './errors.js'

/** What is safe to repeat, and when. Pure. */

/** GET, PUT and DELETE may be carried out twice with the same result (by our reading of every operation). */
const repeatable: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE'])

/** Whether a failed attempt may be repeated. Apart from these, 429 always may: it is a refusal to begin. */
export function mayRetry(method: Method, error: unknown): boolean {
  if (error instanceof ConnectionLost) return !error.sent || repeatable.has(method)
  return error instanceof ServerError && repeatable.has(method)
}

/** Whether the failed attempt may nevertheless have been carried out. */
export const mayHaveTakenEffect = (error: unknown): boolean =>
  error instanceof ServerError || (error instanceof ConnectionLost && error.sent)

/** Whether the error says that what should be deleted is not there (any more). */
export const isGone = (error: unknown): error is NotFound | AlreadyTerminated =>
  error instanceof NotFound || error instanceof AlreadyTerminated

export interface Backoff {
  /** Milliseconds: the first wait is at most this long, each further one at most twice the one before. */
  readonly baseMs: number
  /** Milliseconds: no wait is longer. */
  readonly capMs: number
}

export interface RetryOptions extends Backoff {
  /** Attempts in all, the first one included. A 429 does not count. */
  readonly attempts: number
}

/**
 * Milliseconds before the next attempt: anything from 0 to the bound, all equally likely ('full jitter'),
 * so that many who failed together do not come back together.
 * @param failures attempts that failed so far, from 1.
 * @param random a number from 0 to 1.
 */
export function backoffMs(failures: number, random: number, { baseMs, capMs }: Backoff): number {
  return random * Math.min(capMs, baseMs * 2 ** (failures - 1))
}
