import type { Clock } from '../clock.js'
import { linkedSignal } from './linked-signal.js'

/**
 * The promise's result, or undefined when `ms` milliseconds are over. Rejects with the reason of the signal as soon as
 * that is aborted. Nothing sleeps on afterwards, and nothing is left at the signal.
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
    over.abort()
    // Whoever lost the race is told so, and nobody listens.
    late.catch(() => {})
  }
}

/** The promise's result, unless the signal is aborted before: then its reason. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
