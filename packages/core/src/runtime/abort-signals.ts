import { setMaxListeners } from 'node:events'
import type { Clock } from '../time.js'

/** Creates a controller for a signal with many listeners. By default, Node.js warns at the eleventh listener. */
export function manyWaitOn(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

export interface LinkedSignal {
  readonly signal: AbortSignal
  /** Aborts the linked signal, although no source is aborted. */
  abort(reason?: unknown): void
  /** Removes the listeners from the linked signals. */
  unlink(): void
}

/**
 * Creates a signal that is aborted once one of the given signals is aborted. `AbortSignal.any` of Node.js 20 would
 * leave memory behind in long-lived signals.
 */
export function linkedSignal(...sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = manyWaitOn()
  const links = sources.flatMap((source) =>
    source === undefined ? [] : [{ source, onAbort: () => controller.abort(source.reason) }],
  )
  for (const { source, onAbort } of links) {
    if (source.aborted) onAbort()
    else source.addEventListener('abort', onAbort, { once: true })
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => {
      for (const { source, onAbort } of links) source.removeEventListener('abort', onAbort)
    },
  }
}

/**
 * Aborts a sleep whose result is no longer needed. The error is shared, because creating an `AbortError` each time is
 * the slowest part.
 */
const OVER = new Error('the work was aborted: no caller waits for its result')

/**
 * Resolves with the promise's result, or with undefined after `ms` milliseconds. Rejects with `signal.reason` once the
 * signal is aborted. Afterwards no timer and no listener remains.
 */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const over = linkedSignal(signal)
  const late = clock.sleep(ms, over.signal)
  try {
    return (await Promise.race([promise, late])) ?? undefined
  } finally {
    over.unlink()
    over.abort(OVER)
    // If the promise came first, the sleep was aborted. Its rejection is ignored.
    late.catch(() => {})
  }
}

/** Resolves with the promise's result, or rejects with `signal.reason` if the signal is aborted first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** Calls `next` with the value: synchronously if it is not a promise, as most values are. */
export function whenKnown<T, Result>(value: Awaitable<T>, next: (value: T) => Result): Awaitable<Awaited<Result>> {
  const result = value instanceof Promise ? value.then(next) : next(value)
  return result as Awaitable<Awaited<Result>>
}
