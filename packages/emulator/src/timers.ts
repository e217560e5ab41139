import type { Clock } from '@muster/core/clock'

/** Timers in the service's own time. */
export interface Timers {
  /**
   * Runs the task after `ms` of the service's time, which is `ms / speed` of the clock's. Returns a function that
   * cancels it.
   */
  after(ms: number, task: () => void): () => void
  /** Cancels all pending tasks; no further tasks are accepted. */
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
        // The task may have been cancelled after the sleep ended and before this line ran.
        if (!controller.signal.aborted) task()
      }
      const cancelled = () => {
        waiting.delete(controller)
      }
      void clock.sleep(ms / speed, controller.signal).then(run, cancelled)
      // Aborting with a reason avoids the creation of an error with a stack.
      return () => controller.abort('cancelled')
    },
    close: () => {
      closed = true
      for (const controller of waiting) controller.abort()
    },
  }
}
