import type { Clock } from '@muster/core/clock'

/** Waits in the service's own time. */
export interface Timers {
  /** Runs the task after `ms` of the service's time, that is `ms / speed` of the clock's. Returns how to cancel it. */
  after(ms: number, task: () => void): () => void
  /** Cancels all that waits, and takes no more. */
  close(): void
}

export function createTimers(clock: Clock, speed: number): Timers {
  const waiting = new Set<AbortController>()
  let closed = false
  return {
    after: (ms, task) => {
      if (closed) return () => {}
      const controller = new AbortController()
      waiting.add(controller)
      const run = () => {
        waiting.delete(controller)
        // Cancelled between the end of the sleep and this turn.
        if (!controller.signal.aborted) task()
      }
      const cancelled = () => {
        waiting.delete(controller)
      }
      void clock.sleep(ms / speed, controller.signal).then(run, cancelled)
      // With a reason, so that no error with a stack is made for it.
      return () => controller.abort('cancelled')
    },
    close: () => {
      closed = true
      for (const controller of waiting) controller.abort()
    },
  }
}
