/** Time, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970. Never goes back. */
  now(): number
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A device's time may be set back while the game runs; its monotonic time is not, where there is one. */
const { performance: monotonic } = globalThis as { readonly performance?: { now(): number } }
const began = monotonic === undefined ? 0 : Date.now() - monotonic.now()

export const systemClock: Clock = {
  now: () => (monotonic === undefined ? Date.now() : began + monotonic.now()),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        reject(new Error('aborted'))
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end)
        resolve()
      }, ms)
      if (signal?.aborted) end()
      else signal?.addEventListener('abort', end)
    }),
}

/** From 0 to 1. */
export const systemRandom = (): number => Math.random()
