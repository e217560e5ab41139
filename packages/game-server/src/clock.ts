/** The time source. Tests replace it, so that they need not wait. */
export interface Clock {
  /** Epoch milliseconds at the start of the process; monotonic afterwards, so it never goes back. */
  now(): number
  /** Epoch milliseconds by the wall clock, which may be set in both directions. Default: `now`. */
  date?(): number
  /** Resolves after `ms` milliseconds. Rejects if the signal aborts before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  date: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const end = () => {
        clearTimeout(timer)
        reject(signal?.reason)
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
      signal?.addEventListener('abort', end, { once: true })
    }),
}

/** Returns the current time of the wall clock in epoch milliseconds. */
export const dateOf = (clock: Clock): number => clock.date?.() ?? clock.now()

/** Returns a random number from 0 to 1. */
export const systemRandom = (): number => Math.random()
