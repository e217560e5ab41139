import type { Clock } from '../clock.js'

/** One sleep at a time, which can be moved or cancelled. */
export interface Alarm {
  isSet(): boolean
  /** Rings once, at `instant` (epoch milliseconds), instead of at the instant set before. */
  set(instant: number): void
  clear(): void
}

/** Sleeps only while an instant is set, so that no timer keeps the process alive. */
export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let sleep: AbortController | undefined

  const clear = () => {
    sleep?.abort(null)
    sleep = undefined
  }

  return {
    isSet: () => sleep !== undefined,
    set: (instant) => {
      clear()
      const controller = new AbortController()
      sleep = controller
      clock.sleep(instant - clock.now(), controller.signal).then(
        () => {
          if (sleep !== controller) return
          sleep = undefined
          ring()
        },
        () => {}, // the sleep was cancelled
      )
    },
    clear,
  }
}
