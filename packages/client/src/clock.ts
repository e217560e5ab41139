/** Time, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970 at the start, and monotonic since: for waits. Never goes back. */
  now(): number
  /** Milliseconds since 1970 by the device's clock as it is set now: for dates. Default: `now`. */
  date?(): number
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A device's time may be set back while the game runs; its monotonic time is not, where there is one. */
const { performance: monotonic } = globalThis as { readonly performance?: { now(): number } }
const began = monotonic === undefined ? 0 : Date.now() - monotonic.now()

const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => (monotonic === undefined ? Date.now() : began + monotonic.now()),
  date: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        reject(new Error('aborted'))
      }
      // A timer of more milliseconds fires at once.
      const go = (left: number) =>
        setTimeout(
          () => {
            if (left > LONGEST_TIMER_MS) {
              timer = go(left - LONGEST_TIMER_MS)
              return
            }
            signal?.removeEventListener('abort', end)
            resolve()
          },
          Math.min(left, LONGEST_TIMER_MS),
        )
      let timer = go(ms)
      if (signal?.aborted) end()
      else signal?.addEventListener('abort', end)
    }),
}

/** From 0 to 1. */
export const systemRandom = (): number => Math.random()
