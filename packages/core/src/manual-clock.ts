import { listenToAbort, stopListeningToAbort } from './abort-listeners.js'
import type { Clock } from './clock.js'

/** A clock that only moves when told to, for tests and simulations. */
export interface ManualClock extends Clock {
  /**
   * Moves time forward by `ms`, waking every sleeper at its own instant, in order. Between two wakes, promise callbacks
   * and one turn of the event loop run, so that code under test may sleep again.
   */
  advance(ms: number): Promise<void>
  /** Moves to the next sleeper's instant. Returns false, and does nothing, if there is no sleeper. */
  next(): Promise<boolean>
  /**
   * Moves in steps of `stepMs` (default 100) until the promise is settled, and settles as it does. For work that waits
   * on this clock alone.
   * @throws Error after 36,000 steps, an hour by default, because the promise then waits for something else.
   */
  until<T>(promise: Promise<T>, stepMs?: number): Promise<T>
  /** How many sleeps are pending. */
  readonly sleepers: number
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Most steps of `until`. A promise that waits for something other than the clock would otherwise never end. */
const MOST_STEPS = 36_000

/** Waits one turn of the event loop: promise callbacks run, while the manual clock stands still. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * @param options.start epoch milliseconds to begin at; default 2026-01-01T00:00:00Z.
 */
export function createManualClock(options: { readonly start?: number } = {}): ManualClock {
  let now = options.start ?? Date.UTC(2026, 0, 1)
  // Sorted by instant; sleepers with equal instants wake in the order in which they began to sleep.
  const queue: Sleeper[] = []

  const insert = (sleeper: Sleeper) => {
    let low = 0
    let high = queue.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((queue[middle] as Sleeper).at <= sleeper.at) low = middle + 1
      else high = middle
    }
    queue.splice(low, 0, sleeper)
  }

  const wakeUntil = async (end: number) => {
    await turn()
    for (let first = queue[0]; first !== undefined && first.at <= end; first = queue[0]) {
      queue.shift()
      now = Math.max(now, first.at)
      first.wake()
      await turn()
    }
  }

  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const listener = {
          handleEvent: () => {
            queue.splice(queue.indexOf(sleeper), 1)
            reject(signal?.reason)
          },
        }
        const sleeper: Sleeper = {
          at: now + Math.max(0, ms),
          wake: () => {
            if (signal !== undefined) stopListeningToAbort(signal, listener)
            resolve()
          },
        }
        if (signal !== undefined) listenToAbort(signal, listener)
        insert(sleeper)
      }),
    advance: async (ms) => {
      const end = now + ms
      await wakeUntil(end)
      now = end
    },
    next: async () => {
      await turn()
      const first = queue[0]
      if (first === undefined) return false
      await wakeUntil(first.at)
      return true
    },
    until: async (promise, stepMs = 100) => {
      const state = { settled: false }
      const settle = () => void (state.settled = true)
      promise.then(settle, settle)
      await turn()
      for (let step = 0; !state.settled; step++) {
        if (step === MOST_STEPS) throw new Error(`not settled after ${MOST_STEPS} steps of ${stepMs} ms`)
        const end = now + stepMs
        await wakeUntil(end)
        now = end
        // A result passed through several promises may need more than one turn.
        for (let turns = 0; turns < 4 && !state.settled; turns++) await turn()
      }
      return promise
    },
    get sleepers() {
      return queue.length
    },
  }
}
