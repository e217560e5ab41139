import type { Clock } from '../clock.js'
import { linkedSignal } from './linked-signal.js'

/**
 * Resolves with the promise's result, or with undefined after `ms` milliseconds. Rejects with the signal's reason as
 * soon as the signal is aborted. No timer and no listener remains afterwards.
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
    // The sleep that lost the race is aborted; its rejection is ignored.
    late.catch(() => {})
  }
}

/** Resolves with the promise's result, or rejects with the signal's reason if the signal is aborted first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
