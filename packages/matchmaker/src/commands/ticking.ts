import type { Clock } from '@muster/core/clock'
import { createTicker, type Ticker } from '@muster/core/runtime'

/** Ticks at intervals, while that is on. */
export interface Ticking {
  start(): void
  /** Resolves when the last tick has ended. */
  stop(): Promise<void>
  isOn(): boolean
}

export interface TickingOptions {
  readonly clock: Clock
  readonly everyMs: number
  /** Never rejects. */
  readonly tick: () => Promise<void>
  readonly isClosed: () => boolean
}

export function createTicking({ clock, everyMs, tick, isClosed }: TickingOptions): Ticking {
  let ticker: Ticker | undefined
  return {
    start: () => {
      if (ticker !== undefined || isClosed()) return
      ticker = createTicker({ clock, everyMs, tick, atOnce: true, isNeeded: () => true })
      ticker.wake()
    },
    stop: async () => {
      const last = ticker
      ticker = undefined
      await last?.stop()
    },
    isOn: () => ticker !== undefined,
  }
}
