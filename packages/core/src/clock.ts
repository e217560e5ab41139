import { listenToAbort, stopListeningToAbort } from './abort-listeners.js'

/**
 * Time as a parameter. Everything in Muster that waits or reads the time takes a `Clock`, so that a
 * test can run an hour in a moment and always get the same result.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. Never goes backwards. */
  now(): number
  /**
   * Resolves after `ms` milliseconds of this clock (at once, but still asynchronously, for 0 or less).
   * Rejects with the signal's reason as soon as the signal is aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** setTimeout fires at once for any longer time. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** Read once: it never changes, and reading it takes as long as `performance.now()`. */
const processStartedAt = performance.timeOrigin

/** The machine's time: epoch milliseconds from the monotonic clock, so a corrected system time cannot turn it back. */
export const systemClock: Clock = {
  now: () => processStartedAt + performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = performance.now() + ms
      let timer: NodeJS.Timeout
      const listener = {
        handleEvent: () => {
          clearTimeout(timer)
          reject(signal?.reason)
        },
      }
      const arm = (left: number) => {
        timer = setTimeout(fired, Math.min(Math.ceil(left), LONGEST_TIMEOUT_MS))
      }
      const fired = () => {
        const left = end - performance.now()
        // A timer may fire slightly early.
        if (left > 0) return arm(left)
        if (signal !== undefined) stopListeningToAbort(signal, listener)
        resolve()
      }
      if (signal !== undefined) listenToAbort(signal, listener)
      arm(Math.max(ms, 0))
    }),
}
