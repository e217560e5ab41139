import type { Clock } from '../clock.js'

/** Calls a `tick` now and then, for as long as there is something to do. */
export interface Ticker {
  /** Begins, if it does not tick already. */
  wake(): void
  /** Ends it for good; a tick under way is waited for. */
  stop(): Promise<void>
}

export interface TickerOptions {
  readonly clock: Clock
  readonly everyMs: number
  readonly tick: () => Promise<void>
  /** Whether the first tick comes at once, instead of after `everyMs`. Default false. */
  readonly atOnce?: boolean | undefined
  /** Asked after every tick. While nothing is to do, nothing sleeps that would keep the process alive. */
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
