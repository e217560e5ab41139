/** Time, so that tests need not wait. */
export interface Clock {
  /** Epoch milliseconds at the start of the process, and monotonic since. Never goes backwards. */
  now(): number
  /** Epoch milliseconds by the wall clock, which may be set in both directions. Default: `now`. */
  date?(): number
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

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
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end)
        resolve()
      }, ms)
      signal?.addEventListener('abort', end, { once: true })
    }),
}

/** Now by the wall clock, in epoch milliseconds. */
export const dateOf = (clock: Clock): number => clock.date?.() ?? clock.now()

/** From 0 to 1. */
export const systemRandom = (): number => Math.random()
