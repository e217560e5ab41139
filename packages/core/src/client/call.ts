import type { OperationId } from '../api/api.js'
import { withValueLimits } from '../api/value-limits.js'
import type { Settings } from '../api/settings.js'
import type { Operation } from '../operation.js'
import type { Clock } from '../time.js'
import { type Fault, validate } from '../validation/index.js'
import { pathOf } from '../wire.js'
import { type AnswerCache, mayKeep } from './cache.js'
import { type CallFacts, InvalidInput } from './errors.js'
import type { Flights, Lifetime } from './flight.js'
import { createEncoder, Progress, type Request } from './request.js'

let loading: Promise<ReadonlyMap<OperationId, Operation>> | undefined

/**
 * Loads the description of all operations when it is first needed. With its schemas, it takes longer to load than
 * everything else in this package. A program that only imports the package does not need it.
 */
export function loadDescription(): Promise<ReadonlyMap<OperationId, Operation>> {
  return (loading ??= import('../api/api.js').then(({ operations }) => new Map(operations)))
}

/** Options of any call. */
export interface CallOptions {
  /** Signal that ends the call: once it is aborted, the call rejects with `signal.reason`, wherever it waits. */
  readonly signal?: AbortSignal | undefined
  /**
   * Milliseconds for the whole call: queueing, connecting, retries and the waits between them. Default: the client's
   * `timeoutMs`.
   */
  readonly timeoutMs?: number | undefined
  /** A whole number. Among calls that wait for the same rate limit, a higher priority goes first. Default 0. */
  readonly priority?: number | undefined
  /**
   * Called right before each attempt is written. If it returns false, nothing is written, and the call rejects with
   * `SendAborted`. It is for a process that must not send anything after losing a lease.
   */
  readonly mayWrite?: (() => boolean) | undefined
}

/** Validates the options of a call. @throws {InvalidInput} naming the option and its value. */
export function checkCallOptions(id: OperationId, options: CallOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidInput(`${id}: the options must be an object`, { operation: id })
  }
  const { signal, timeoutMs, priority, mayWrite } = options
  const refuse = (option: string, must: string, value: unknown): never => {
    const got = typeof value === 'number' ? String(value) : `a value of type ${typeof value}`
    throw new InvalidInput(`${id}: option ${option} must be ${must}, got ${got}`, { operation: id, field: option })
  }
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    refuse('timeoutMs', 'a positive number of milliseconds', timeoutMs)
  }
  if (priority !== undefined && !Number.isSafeInteger(priority)) refuse('priority', 'a whole number', priority)
  if (mayWrite !== undefined && typeof mayWrite !== 'function') refuse('mayWrite', 'a function', mayWrite)
  if (signal !== undefined && !(signal instanceof AbortSignal)) refuse('signal', 'an AbortSignal', signal)
}

/**
 * Makes the error for a value that does not fit its schema. It names the field and the fault. It names the value unless
 * that may be a secret or an address.
 * @param what the value as a whole, e.g. `deployments.create: input`.
 */
export function invalid(what: string, { field, message }: Fault, facts: CallFacts = {}): InvalidInput {
  return new InvalidInput(`${what}${field === undefined ? '' : ` ${field}`}: ${message}`, { ...facts, field })
}

/** An operation as a function, without its types. */
export type UntypedCall = (input?: unknown, options?: CallOptions) => Promise<unknown>

interface Calling {
  readonly flights: Flights
  readonly cache: AnswerCache
  readonly lifetime: Lifetime
  readonly clock: Clock
  readonly settings: Settings
  /** Path of the base URL, without a trailing slash. */
  readonly pathPrefix: string
  /** Default timeout of a call in milliseconds. */
  readonly timeoutMs: number
  /** Returns a new id for a call. */
  readonly nextCall: () => string
}

/**
 * The first hop: validates the input, encodes it as HTTP, and waits for the response until the caller's timeout. The
 * other hops are retry, schedule, send and decode.
 *
 * The first call of a process may have to wait for the description. That wait does not count toward the timeout,
 * because a test's manual clock may advance by minutes during it.
 */
export function createCall(id: OperationId, calling: Calling): UntypedCall {
  const { flights, cache, lifetime, clock, settings, nextCall } = calling
  let described: ReturnType<typeof describe> | undefined

  return async (given = {}, options = {}) => {
    checkCallOptions(id, options)
    const { signal, timeoutMs = calling.timeoutMs, priority = 0, mayWrite } = options
    signal?.throwIfAborted()
    lifetime.assertOpen(id)
    lifetime.begin()
    try {
      const { operation, template, encode } = await (described ??= describe(id, calling))
      signal?.throwIfAborted()
      const checked = withValueLimits(settings.valueLimits, () => validate(operation.input, given))
      if (!checked.success) throw invalid(`${id}: input`, checked.fault, { operation: id })
      const input = checked.data as Readonly<Record<string, unknown>>
      const encoded = encode(input)
      const keep = mayKeep(id, input)
      const known = keep ? cache.get(encoded.path) : undefined
      if (known !== undefined) return known

      const request: Request = {
        id,
        operation,
        template,
        call: nextCall(),
        input,
        ...encoded,
        priority,
        mayWrite,
        cancellation: new AbortController(),
        progress: new Progress(clock.now()),
      }
      const answer = await flights.board(request, signal, timeoutMs)
      if (keep) cache.set(encoded.path, answer)
      return answer
    } finally {
      lifetime.end()
    }
  }
}

async function describe(id: OperationId, { settings, pathPrefix }: Calling) {
  const operation = (await loadDescription()).get(id)
  if (operation === undefined) throw new TypeError(`unknown operation ${id}`)
  const encode = createEncoder(id, operation, settings, pathPrefix)
  return { operation, encode, template: pathOf(operation, settings) }
}
