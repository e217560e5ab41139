import type { Clock } from '../clock.js'
import { createAlarm } from './alarm.js'
import type { Limiter } from './limiter.js'

/** Calls a limiter's `check` when it wants to be, while requests are under way. */
export interface CountWatch {
  /** A request was written. */
  written(): void
  stop(): void
}

export function createCountWatch(clock: Clock, limiter: Limiter | undefined): CountWatch {
  const alarm = createAlarm(clock, () => {
    limiter?.check?.(clock.now())
    set()
  })
  const set = () => {
    const at = limiter?.checkAt?.(clock.now())
    if (at !== undefined) alarm.set(at)
  }
  return {
    written: () => {
      if (!alarm.isSet()) set()
    },
    stop: alarm.clear,
  }
}
