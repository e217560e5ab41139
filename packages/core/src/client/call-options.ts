import type { OperationId } from '../api/api.js'
import { InvalidInput } from './errors.js'

/** Options of any call. */
export interface CallOptions {
  /** Ends the call at once when aborted, wherever it waits; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * Milliseconds for the whole call: queueing, connecting, retries and their waits. Default: the client's `timeoutMs`.
   */
  readonly timeoutMs?: number | undefined
  /** Whole number; higher goes first among calls that wait for the same rate limit. Default 0. */
  readonly priority?: number | undefined
  /**
   * Asked at the last moment before each attempt is written. If it answers false, nothing is written, and the call
   * rejects with `Withheld`: for a process that may do something only as long as it holds a lease.
   */
  readonly mayWrite?: (() => boolean) | undefined
}

/** @throws {InvalidInput} naming the option and its value. */
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
