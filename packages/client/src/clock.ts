/** The time source. Tests replace it, so that they need not wait. */
export interface Clock {
  /** Epoch milliseconds at the start; monotonic afterwards, so it never goes back. Used for waits. */
  now(): number
  /** Epoch milliseconds by the device's clock, which may be set. Used for dates. Default: `now`. */
  date?(): number
  /** Resolves after `ms` milliseconds. Rejects if the signal aborts before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The device's monotonic clock, if it has one. The device's wall clock may be set back while the game runs. */
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
      // Long sleeps are split, because a timer with more milliseconds than this would fire at once.
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

/** Returns a random number from 0 to 1. */
export const systemRandom = (): number => Math.random()
