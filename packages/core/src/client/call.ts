import type { OperationId } from '../api/api.js'
import type { Settings } from '../api/settings.js'
import type { Clock } from '../clock.js'
import { pathOf } from '../wire.js'
import { mayKeep, type AnswerCache } from './cache.js'
import { checkCallOptions, type CallOptions } from './call-options.js'
import { createCancellation } from './cancellation.js'
import { deepFreeze } from './deep-freeze.js'
import { loadDescription } from './description.js'
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

/** A call whose options were checked. */
type Perform = (given: unknown, options: CallOptions, began: number) => Promise<unknown>

/**
 * The first hop: checks the input, writes it as HTTP, and waits for the answer as long as the caller wants.
 * The others are retry, schedule, send and decode.
 */
export function createCall(id: OperationId, calling: Calling): UntypedCall {
  const { lifetime, clock } = calling
  let perform: Perform | undefined

  const loaded = async (): Promise<Perform> => (perform ??= await describedCall(id, calling))

  return async (given = {}, options = {}) => {
    checkCallOptions(id, options)
    options.signal?.throwIfAborted()
    lifetime.assertOpen(id)
    const began = clock.now()
    if (perform !== undefined) return perform(given, options, began)
    lifetime.begin()
    try {
      const first = await loaded()
      options.signal?.throwIfAborted()
      return await first(given, options, began)
    } finally {
      lifetime.end()
    }
  }
}

async function describedCall(id: OperationId, calling: Calling): Promise<Perform> {
  const { flights, cache, settings, nextCall } = calling
  const operation = (await loadDescription()).get(id)
  if (operation === undefined) throw new TypeError(`nothing describes ${id}`)
  const encode = createEncoder(operation, settings, calling.pathPrefix)
  const template = pathOf(operation, settings)

  return async (given, { signal, timeoutMs = calling.timeoutMs, priority = 0 }, began) => {
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
      progress: createProgress(began),
    }
    const answer = await flights.board(request, signal, timeoutMs)
    if (keep) cache.set(path, deepFreeze(answer))
    return answer
  }
}
