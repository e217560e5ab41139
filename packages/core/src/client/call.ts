import type { OperationId } from '../api/api.js'
import type { Settings } from '../api/settings.js'
import { withValueLimits } from '../api/value-limits.js'
import type { Clock } from '../clock.js'
import { pathOf } from '../wire.js'
import { mayKeep, type AnswerCache } from './cache.js'
import { checkCallOptions, type CallOptions } from './call-options.js'
import { loadDescription } from './description.js'
import { createEncoder } from './encode.js'
import type { Flights } from './flights.js'
import { inputReaderOf } from './input-reader.js'
import { invalid } from './invalid.js'
import type { Lifetime } from './lifetime.js'
import { NewRequest } from './request.js'

/** An operation as a function, without its types. */
export type UntypedCall = (input?: unknown, options?: CallOptions) => Promise<unknown>

export interface Calling {
  readonly flights: Flights
  readonly cache: AnswerCache
  readonly lifetime: Lifetime
  readonly clock: Clock
  readonly settings: Settings
  /** Path of the base URL, without a trailing slash. */
  readonly pathPrefix: string
  /** Default milliseconds of a call. */
  readonly timeoutMs: number
  /** A new id for a call. */
  readonly nextCall: () => string
}

/**
 * The first hop: checks the input, encodes it as HTTP, and waits for the answer as long as the caller wants. The other
 * hops are retry, schedule, send and decode.
 *
 * The first call of a process may have to wait until the description is loaded. That time does not count as the call's,
 * because a manual clock may advance by minutes meanwhile.
 */
export function createCall(id: OperationId, calling: Calling): UntypedCall {
  const { lifetime } = calling
  const admit = (options: CallOptions) => {
    checkCallOptions(id, options)
    options.signal?.throwIfAborted()
    lifetime.assertOpen(id)
  }
  let call: DescribedCall | undefined

  const describedFirst: UntypedCall = async (given = {}, options = {}) => {
    admit(options)
    lifetime.begin()
    try {
      call ??= await describedCall(id, calling)
      options.signal?.throwIfAborted()
      return await call(given, options, () => {})
    } finally {
      lifetime.end()
    }
  }

  return (given = {}, options = {}) =>
    call === undefined ? describedFirst(given, options) : call(given, options, admit)
}

/** @param admit called first; throws if the client takes no more calls. */
type DescribedCall = (given: unknown, options: CallOptions, admit: (options: CallOptions) => void) => Promise<unknown>

async function describedCall(id: OperationId, calling: Calling): Promise<DescribedCall> {
  const { flights, cache, clock, settings, nextCall } = calling
  const operation = (await loadDescription()).get(id)
  if (operation === undefined) throw new TypeError(`nothing describes ${id}`)
  const read = inputReaderOf(operation.input)
  const encode = createEncoder(id, operation, settings, calling.pathPrefix)
  const described = { id, operation, template: pathOf(operation, settings) }

  return async (given, options, admit) => {
    admit(options)
    const { signal, timeoutMs = calling.timeoutMs, priority = 0, mayWrite } = options
    const checked = withValueLimits(settings.valueLimits, () => read(given))
    if (!checked.success) throw invalid(`${id}: input`, checked.fault, { operation: id })
    const input = checked.data as Readonly<Record<string, unknown>>
    const encoded = encode(input)
    const keep = mayKeep(id, input)
    const known = keep ? cache.get(encoded.path) : undefined
    if (known !== undefined) return known

    const request = new NewRequest(described, { input, call: nextCall(), priority, mayWrite }, encoded, clock.now())
    const answer = await flights.board(request, signal, timeoutMs)
    if (keep) cache.set(encoded.path, answer)
    return answer
  }
}
