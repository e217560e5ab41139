import type { Clock } from '../clock.js'
import { createAlarm } from './alarm.js'
import type { Limiter } from './limiter.js'

/** Calls a limiter's `check` at the times the limiter asks for, as long as requests are under way. */
export interface CountWatch {
  /** Notes that a request was written. */
  written(now: number): void
  stop(): void
}

export function createCountWatch(clock: Clock, limiter: Limiter | undefined): CountWatch {
  const alarm = createAlarm(clock, () => {
    const now = clock.now()
    limiter?.check?.(now)
    set(now)
  })
  const set = (now: number) => {
    const at = limiter?.checkAt?.(now)
    if (at !== undefined) alarm.set(at)
  }
  return {
    written: (now) => {
      if (!alarm.isSet()) set(now)
    },
    stop: alarm.clear,
  }
}
