/** The time source. Tests replace it, so that they need not wait. */
export interface Clock {
  /** Epoch milliseconds at the start, monotonic afterwards. Used for waits. Never goes back. */
  now(): number
  /** Epoch milliseconds by the device's current clock. Used for dates. Default: `now`. */
  date?(): number
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A device's clock may be set back while the game runs. Its monotonic clock (if it has one) may not. */
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
      // A timer with more milliseconds would fire at once.
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

/** A random number from 0 to 1. */
export const systemRandom = (): number => Math.random()
