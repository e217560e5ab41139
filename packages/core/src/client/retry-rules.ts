import type { Method } from '../operation.js'
import type { Backoff } from '../runtime/backoff.js'
import { AlreadyTerminated, ConnectionLost, NotFound, ServerError } from './errors.js'

/** Which requests are safe to repeat, and when. Pure. */

/** GET, PUT and DELETE can be carried out twice with the same result (our reading of every operation). */
const repeatable: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE'])

/** Whether a failed attempt may be repeated. A 429 may always be repeated, because nothing was begun. */
export function mayRetry(method: Method, error: unknown): boolean {
  if (error instanceof ConnectionLost) return !error.sent || repeatable.has(method)
  return error instanceof ServerError && repeatable.has(method)
}

/** Whether the failed attempt may have taken effect. */
export const mayHaveTakenEffect = (error: unknown): boolean =>
  error instanceof ServerError || (error instanceof ConnectionLost && error.sent)

/** Whether the error says that the resource to delete does not exist (any more). */
export const isGone = (error: unknown): error is NotFound | AlreadyTerminated =>
  error instanceof NotFound || error instanceof AlreadyTerminated

export interface RetryOptions extends Omit<Backoff, 'jitter'> {
  /** Attempts in all, the first one included. A 429 does not count. */
  readonly attempts: number
}
