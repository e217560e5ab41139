import type { Clock } from '../time.js'

/** One sleep that can be moved or cancelled. While no time is set, no timer keeps the process alive. */
export function createAlarm(clock: Clock, ring: () => void) {
  let sleep: AbortController | undefined

  const clear = () => {
    sleep?.abort(null)
    sleep = undefined
  }

  return {
    isSet: () => sleep !== undefined,
    /** Fires once, at `instant` (epoch milliseconds), instead of at the earlier set time. */
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
  /** Makes the first tick immediately, instead of after `everyMs`. Default false. */
  readonly atOnce?: boolean | undefined
  /** Returns true if there is something to do. Called after every tick. If not, ticking pauses and no timer is left. */
  readonly isNeeded: () => boolean
}

export function createTicker({ clock, everyMs, tick, atOnce = false, isNeeded }: TickerOptions): Ticker {
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  const run = async () => {
    for (let isFirst = true; !stopping.signal.aborted && isNeeded(); isFirst = false) {
      if (!isFirst || !atOnce) await clock.sleep(everyMs, stopping.signal).catch(() => {}) // Ignores the stop.
      if (!stopping.signal.aborted) await tick().catch(warn)
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

/** The next tick may well succeed. */
function warn(error: unknown): void {
  process.emitWarning(`a tick failed: ${String(error)}`, 'MusterWarning')
}

/** Yields the event loop at intervals during long work. */
export interface Yielder {
  /** True if it is time to yield. */
  isDue(): boolean
  /** Lets the event loop turn once. */
  yieldNow(): Promise<void>
  /** Milliseconds since this yielder was created. */
  spentMs(): number
}

/** Milliseconds of work between two yields (our choice): the maximum delay of players' requests and health checks. */
const STRETCH_MS = 5

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** @param stopwatch returns milliseconds. */
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
  /** Milliseconds: the first wait is at most this long, each further one at most twice the previous one. */
  readonly baseMs: number
  /** Maximum wait in milliseconds. */
  readonly capMs: number
  /**
   * The random part of a wait, so that callers that failed together do not retry together. Default 1, the whole wait.
   */
  readonly jitter?: number | undefined
}

/**
 * Milliseconds to wait before the next attempt.
 * @param failures attempts that failed so far, from 1.
 * @param random a number from 0 to 1.
 */
export function backoffMs(failures: number, random: number, { baseMs, capMs, jitter = 1 }: Backoff): number {
  return Math.min(capMs, baseMs * 2 ** (failures - 1)) * (1 - jitter + jitter * random)
}
