import { listenToAbort, stopListeningToAbort } from './runtime/abort-listeners.js'
import { createWallStep } from './runtime/wall-step.js'

/**
 * Time as a parameter. Everything in Muster that waits or reads the time takes a `Clock`, so that a test can simulate
 * an hour in a moment, with the same result each time.
 */
export interface Clock {
  /**
   * Returns milliseconds since the Unix epoch, for waits, ages and deadlines. The wall clock is read at the start of
   * the process, and a monotonic clock afterwards. The time never goes backwards. A step of the system clock (NTP, a
   * laptop that slept) does not change it.
   */
  now(): number
  /**
   * Returns the milliseconds by which the wall clock is ahead of `now`; negative if it is behind. They differ once the
   * clock was set (NTP) or the machine slept. Tokens, timestamps and schedules need this value, because others compare
   * them with their own clocks: see `dateOf`. Default: 0.
   */
  wallStepMs?(): number
  /**
   * Resolves after `ms` milliseconds of this clock (for 0 or less: immediately, but still asynchronously). Rejects with
   * `signal.reason` once the signal is aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Maximum timeout in milliseconds. With a longer one, setTimeout fires immediately. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** The value is read only once, because it never changes and reading it takes as long as `performance.now()`. */
const processStartedAt = performance.timeOrigin

const wallStep = createWallStep(
  () => Date.now(),
  () => processStartedAt + performance.now(),
)

/** The system's time: waits from its monotonic clock, dates from its wall clock. */
export const systemClock: Clock = {
  now: () => processStartedAt + performance.now(),
  wallStepMs: () => wallStep.read(),
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

/**
 * Returns the date of a time of a clock, by the current wall clock, in epoch milliseconds.
 * @param instant a time of `clock.now()`, such as a deadline. Default: now.
 */
export function dateOf(clock: Pick<Clock, 'now' | 'wallStepMs'>, instant = clock.now()): number {
  return instant + (clock.wallStepMs?.() ?? 0)
}

/** A clock that only moves when advanced, for tests and simulations. */
export interface ManualClock extends Clock {
  wallStepMs(): number
  /** Sets the wall clock forward by `ms`, or back if it is negative. `now` and sleepers do not change. */
  step(ms: number): void
  /**
   * Moves time forward by `ms`, and wakes every sleeper at its own time, in order. Between two wakes, promise callbacks
   * and one turn of the event loop run, so that code under test may sleep again.
   */
  advance(ms: number): Promise<void>
  /** Moves time to that of the next sleeper. Returns false, and does nothing, if there is no sleeper. */
  next(): Promise<boolean>
  /**
   * Moves time in steps of `stepMs` (default 100 ms) until the promise is settled, and settles like it. For work that
   * waits on this clock only.
   * @throws Error after 36,000 steps, an hour by default, because the promise then waits for something else.
   */
  until<T>(promise: Promise<T>, stepMs?: number): Promise<T>
  /** Number of pending sleeps. */
  readonly sleepers: number
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * Maximum number of steps of `until`. A promise that waits for something other than the clock would otherwise never
 * end.
 */
const MOST_STEPS = 36_000

/** Waits one turn of the event loop: promise callbacks run, while the manual clock does not move. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Creates a manual clock.
 * @param options.start epoch milliseconds to begin at; default 2026-01-01T00:00:00Z.
 */
export function createManualClock(options: { readonly start?: number } = {}): ManualClock {
  let now = options.start ?? Date.UTC(2026, 0, 1)
  let wallAheadMs = 0
  // Sorted by time. Sleepers of equal times wake in the order in which they began to sleep.
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
    wallStepMs: () => wallAheadMs,
    step: (ms) => void (wallAheadMs += ms),
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
        if (step === MOST_STEPS)
          throw new Error(`the promise did not settle within ${MOST_STEPS} steps of the clock, ${stepMs} ms each`)
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

/** A source of randomness, like `Math.random`: a number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** The system's source of randomness. Not for secrets. */
export const systemRandom: Random = () => Math.random()

/** Repeats the same sequence for the same seed (mulberry32): for tests, demos and simulations, not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The exports of `@muster/core/clock`: time and randomness as parameters. */
