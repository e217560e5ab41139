import type { Method } from '../operation.js'
import { type Backoff, backoffMs } from '../runtime/index.js'
import type { Clock, Random } from '../time.js'
import type { EventSink } from './call-events.js'
import {
  AlreadyTerminated,
  ConnectionLost,
  type MusterError,
  NotFound,
  RateLimited,
  RouteMissing,
  ServerError,
} from './errors.js'
import { enterPhase, factsOf, type Request } from './request.js'

/** Which requests are safe to repeat, and when. Pure. */

/** Methods whose requests can be executed twice with the same result (our reading of every operation). */
const repeatable: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE'])

/** True if a failed attempt may be repeated. A 429 may always be repeated, because nothing was executed. */
function mayRetry(method: Method, error: unknown): boolean {
  if (error instanceof ConnectionLost) return !error.sent || repeatable.has(method)
  return error instanceof ServerError && repeatable.has(method)
}

/** True if the failed attempt may have taken effect. */
export const mayHaveTakenEffect = (error: unknown): boolean =>
  (error instanceof ServerError && !(error instanceof RouteMissing)) || (error instanceof ConnectionLost && error.sent)

/** True if the error means that the resource to delete does not exist, or no longer exists. */
export const isGone = (error: unknown): error is NotFound | AlreadyTerminated =>
  error instanceof NotFound || error instanceof AlreadyTerminated

export interface RetryOptions extends Omit<Backoff, 'jitter'> {
  /** Maximum number of attempts, including the first one. An attempt that got a 429 does not count. */
  readonly attempts: number
}

interface Retrying {
  readonly retry: RetryOptions
  /** Maximum Retry-After in milliseconds that is respected. A longer one is shortened to it. */
  readonly maxRetryAfterMs: number
  readonly clock: Clock
  readonly random: Random
  readonly events: EventSink
  /** Pauses the request's queue. Returns the milliseconds of the pause; undefined if only the request has to wait. */
  readonly throttled: (request: Request, refusal: RateLimited, retryAfterMs: number | undefined) => number | undefined
  /** Returns the result of a DELETE whose first attempt succeeded but whose response was lost. */
  readonly gone: (request: Request, error: MusterError) => unknown
}

/**
 * Repeats a request while a repetition is safe and its time allows. After a 429, the request's queue pauses, and the
 * request waits in it again, as often as needed: only its deadline ends this. After a stray 429, which does not show a
 * limit, only the request waits.
 */
export async function withRetry(
  request: Request,
  attempt: (request: Request) => Promise<unknown>,
  { retry, maxRetryAfterMs, clock, random, events, throttled, gone }: Retrying,
): Promise<unknown> {
  const { operation, progress, cancellation } = request
  const strayMs = (error: RateLimited, refusals: number) =>
    Math.min(maxRetryAfterMs, Math.max(error.retryAfterMs ?? 0, backoffMs(refusals, random(), retry)))
  for (let failures = 0, refusals = 0; ;) {
    progress.attempt += 1
    progress.written = false
    try {
      return await attempt(request)
    } catch (error) {
      if (cancellation.signal.aborted) throw error
      progress.lastError = error
      if (error instanceof RateLimited) {
        progress.written = false // The request was refused, so it had no effect.
        refusals += 1
        const pauseMs = throttled(
          request,
          error,
          atLeast(error.retryAfterMs, refusals === 1 ? 0 : backoffMs(refusals - 1, random(), retry)),
        )
        const ownMs = pauseMs === undefined ? strayMs(error, refusals) : 0
        if (clock.now() + (pauseMs ?? ownMs) >= progress.deadline) throw error
        if (pauseMs !== undefined) continue
        enterPhase(progress, 'retryWait', clock.now())
        await clock.sleep(ownMs, cancellation.signal)
        continue
      }
      if (progress.doubtful && operation.method === 'DELETE' && isGone(error)) return gone(request, error)
      failures += 1
      if (failures >= retry.attempts || !mayRetry(operation.method, error)) throw error
      progress.doubtful ||= mayHaveTakenEffect(error)

      const wished = error instanceof ServerError ? Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs) : 0
      const delayMs = Math.max(wished, backoffMs(failures, random(), retry))
      if (clock.now() + delayMs >= progress.deadline) throw error
      events.emit('retry', { ...factsOf(request), attempt: progress.attempt, delayMs, error: nameOf(error) })
      enterPhase(progress, 'retryWait', clock.now())
      await clock.sleep(delayMs, cancellation.signal)
    }
  }
}

/**
 * Lengthens a pause to at least `least` milliseconds, so that the pauses of repeated refusals grow. An undefined pause
 * stays undefined: if the service names no time, the queue's default pause applies.
 */
const atLeast = (ms: number | undefined, least: number) => (ms === undefined ? undefined : Math.max(ms, least))

const nameOf = (error: unknown) => (error instanceof Error ? error.name : 'Error')
