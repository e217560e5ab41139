import { warnThat } from '../redact.js'
import type { Clock } from '../time.js'

/**
 * Creates an alarm: one sleep that can be moved or cancelled. While no time is set, no timer keeps the process alive.
 */
export function createAlarm(clock: Clock, ring: () => void) {
  let sleep: AbortController | undefined

  const clear = () => {
    sleep?.abort(null)
    sleep = undefined
  }

  return {
    isSet: () => sleep !== undefined,
    /** Calls `ring` once, at `instant` (epoch milliseconds). Replaces the time that was set before. */
    set: (instant: number) => {
      clear()
      const controller = new AbortController()
      sleep = controller
      clock.sleep(instant - clock.now(), controller.signal).then(
        () => {
          if (sleep !== controller) return
          sleep = undefined
          ring()
        },
        () => {}, // The sleep was cancelled.
      )
    },
    clear,
  }
}

/** Calls `tick` at intervals, as long as there is something to do. */
export interface Ticker {
  /** Starts to tick, unless it already ticks. */
  wake(): void
  /** Stops permanently. Waits for a running tick. */
  stop(): Promise<void>
}

export interface TickerOptions {
  readonly clock: Clock
  readonly everyMs: number
  readonly tick: () => Promise<void>
  /** True runs the first tick immediately. Default false: the first tick runs after `everyMs`. */
  readonly atOnce?: boolean | undefined
  /**
   * Returns true if there is something to do. Called after every tick. If it returns false, ticking pauses and no timer
   * remains.
   */
  readonly isNeeded: () => boolean
  /** Called with the error of a tick. The next tick follows all the same. Default: a process warning. */
  readonly failed?: ((error: unknown) => void) | undefined
}

export function createTicker({
  clock,
  everyMs,
  tick,
  atOnce = false,
  isNeeded,
  failed = warnThat('a tick'),
}: TickerOptions): Ticker {
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  const run = async () => {
    for (let isFirst = true; !stopping.signal.aborted && isNeeded(); isFirst = false) {
      if (!isFirst || !atOnce) await clock.sleep(everyMs, stopping.signal).catch(() => {}) // Ignores the stop.
      if (!stopping.signal.aborted) await tick().catch(failed)
    }
    running = undefined
  }

  return {
    wake: () => {
      if (running === undefined && !stopping.signal.aborted && isNeeded()) running = run()
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

/** Yields the event loop at intervals during long work. */
export interface Yielder {
  /** True if it is time to yield. */
  isDue(): boolean
  /** Resolves after one turn of the event loop. */
  yieldNow(): Promise<void>
  /** Milliseconds since this yielder was created. */
  spentMs(): number
}

/** Milliseconds of work between two yields (our choice): the maximum delay of players' requests and health checks. */
const STRETCH_MS = 5

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Creates a yielder. @param stopwatch returns milliseconds. */
export function createYielder(stopwatch: () => number): Yielder {
  const startedAt = stopwatch()
  let yieldedAt = startedAt
  return {
    isDue: () => stopwatch() - yieldedAt >= STRETCH_MS,
    yieldNow: async () => {
      await turn()
      yieldedAt = stopwatch()
    },
    spentMs: () => stopwatch() - startedAt,
  }
}

export interface Backoff {
  /**
   * Base of the waits in milliseconds. The first wait is at most this long, and each further wait at most twice the
   * previous one.
   */
  readonly baseMs: number
  /** Maximum wait in milliseconds. */
  readonly capMs: number
  /**
   * The share of a wait that is random, so that callers that failed together do not retry together. Default 1: the
   * whole wait.
   */
  readonly jitter?: number | undefined
}

/**
 * Returns the milliseconds to wait before the next attempt.
 * @param failures number of attempts that failed so far, from 1.
 * @param random a number from 0 to 1.
 */
export function backoffMs(failures: number, random: number, { baseMs, capMs, jitter = 1 }: Backoff): number {
  return Math.min(capMs, baseMs * 2 ** (failures - 1)) * (1 - jitter + jitter * random)
}
