import type { Clock, Random } from '@muster/core/clock'

/** What all parts of the service depend on. */
export interface Surroundings {
  /** The clock, which is not sped up: the real one, or that of a test. All timestamps use it. */
  readonly clock: Clock
  /** The source of random choices. */
  readonly random: Random
  /** Speed factor of the service's own durations. A part that does not use `timers` must divide its durations by it. */
  readonly speed: number
  readonly timers: Timers
}

export type Timers = ReturnType<typeof createTimers>

/** Creates timers in simulated time, which is `speed` times as fast as the clock. */
export function createTimers(clock: Clock, speed: number) {
  const waiting = new Set<AbortController>()
  let closed = false
  return {
    /**
     * Runs the task after `ms` milliseconds of simulated time, which is `ms / speed` of the clock's time. Returns a
     * function that cancels the task.
     */
    after: (ms: number, task: () => void): (() => void) => {
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
      // Aborting with a string avoids the cost of creating an error with a stack.
      return () => controller.abort('cancelled')
    },
    /** Cancels all pending tasks. Later tasks are not run. */
    close: () => {
      closed = true
      for (const controller of waiting) controller.abort()
    },
  }
}
