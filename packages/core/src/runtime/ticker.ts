import type { Clock } from '../clock.js'

/** Calls `tick` at intervals, as long as there is something to do. */
export interface Ticker {
  /** Begins to tick, unless it ticks already. */
  wake(): void
  /** Stops for good; waits for a tick under way. */
  stop(): Promise<void>
}

export interface TickerOptions {
  readonly clock: Clock
  readonly everyMs: number
  readonly tick: () => Promise<void>
  /** Whether the first tick comes at once, instead of after `everyMs`. Default false. */
  readonly atOnce?: boolean | undefined
  /**
   * Whether there is something to do, asked after every tick. If not, ticking pauses, so that no timer keeps the
   * process alive.
   */
  readonly isNeeded: () => boolean
}

export function createTicker({ clock, everyMs, tick, atOnce = false, isNeeded }: TickerOptions): Ticker {
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  const run = async () => {
    for (let isFirst = true; !stopping.signal.aborted && isNeeded(); isFirst = false) {
      if (!isFirst || !atOnce) await clock.sleep(everyMs, stopping.signal).catch(() => {}) // stopped
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
