import type { OperationId } from '../api/api.js'
import type { Settings } from '../api/settings.js'
import type { Clock } from '../clock.js'
import type { Operation } from '../operation.js'
import { pathOf } from '../wire.js'
import { mayKeep, type AnswerCache } from './cache.js'
import { checkCallOptions, type CallOptions } from './call-options.js'
import { deepFreeze } from './deep-freeze.js'
import { createCancellation } from './cancellation.js'
import { createEncoder } from './encode.js'
import type { Flights } from './flights.js'
import { invalid } from './invalid.js'
import type { Lifetime } from './lifetime.js'
import { createProgress } from './progress.js'

/** An operation as a function, before its types are put on. */
export type UntypedCall = (input?: unknown, options?: CallOptions) => Promise<unknown>

export interface Calling {
  readonly flights: Flights
  readonly cache: AnswerCache
  readonly lifetime: Lifetime
  readonly clock: Clock
  readonly settings: Settings
  /** Path of the base URL, without a slash at its end. */
  readonly pathPrefix: string
  /** Default milliseconds per call. */
  readonly timeoutMs: number
  /** A new id for a call. */
  readonly nextCall: () => string
}

/**
 * The first hop: checks the input, writes it as HTTP, and waits for the answer as long as the caller wants.
 * The others are retry, schedule, send and decode.
 */
export function createCall(id: OperationId, operation: Operation, calling: Calling): UntypedCall {
  const { flights, cache, lifetime, clock, settings, nextCall } = calling
  const encode = createEncoder(operation, settings, calling.pathPrefix)
  const template = pathOf(operation, settings)

  return async (given = {}, options = {}) => {
    checkCallOptions(id, options)
    const { signal, timeoutMs = calling.timeoutMs, priority = 0 } = options
    signal?.throwIfAborted()
    lifetime.assertOpen(id)

    const checked = operation.input.safeParse(given)
    if (!checked.success) throw invalid(`${id}: input`, given, checked.error, { operation: id })
    const input = checked.data as Readonly<Record<string, unknown>>
    const { path, headers, body } = encode(input)
    const keep = mayKeep(id, input)
    const known = keep ? cache.get(path) : undefined
    if (known !== undefined) return known

    const request = {
      id,
      operation,
      template,
      call: nextCall(),
      input,
      path,
      headers,
      body,
      priority,
      cancellation: createCancellation(),
      progress: createProgress(clock.now()),
    }
    const answer = await flights.board(request, signal, timeoutMs)
    if (keep) cache.set(path, deepFreeze(answer))
    return answer
  }
}
