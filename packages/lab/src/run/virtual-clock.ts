import type { Clock } from '@muster/core/clock'

/** A clock that moves only on request. It can make many thousand steps per second. */
export interface VirtualClock extends Clock {
  /** Runs all pending promise callbacks. The event loop does not run meanwhile. */
  settle(): Promise<void>
  /** Returns the time at which the next sleep ends; Infinity if nothing sleeps. */
  nextAt(): number
  /**
   * Moves the clock to this time. Each sleep ends at its own time, in order, and its promise callbacks run before the
   * next.
   */
  reach(at: number): Promise<void>
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * Waits until no promise callback is pending, because a callback of `process.nextTick` runs after all of them. This
 * takes a third of the time of a turn of the event loop, which is not needed without I/O.
 */
const settled = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** Creates a virtual clock. @param start epoch milliseconds. */
export function createVirtualClock(start: number): VirtualClock {
  let now = start
  /**
   * The sleepers, sorted by end time, then by start. There are few, because the matchmaker sleeps once for all tickets.
   */
  const sleepers: Sleeper[] = []

  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const aborted = () => {
          sleepers.splice(sleepers.indexOf(sleeper), 1)
          reject(signal?.reason)
        }
        const wake = () => {
          signal?.removeEventListener('abort', aborted)
          resolve()
        }
        const sleeper = { at: now + Math.max(0, ms), wake }
        signal?.addEventListener('abort', aborted, { once: true })
        sleepers.splice(sleepers.findLastIndex(({ at }) => at <= sleeper.at) + 1, 0, sleeper)
      }),
    settle: async () => {
      // `settled` must be called from a promise callback, whatever the caller is. Otherwise its `nextTick` would run
      // before the pending promise callbacks.
      await Promise.resolve()
      await settled()
    },
    nextAt: () => sleepers[0]?.at ?? Infinity,
    reach: async (at) => {
      for (let first = sleepers[0]; first !== undefined && first.at <= at; first = sleepers[0]) {
        sleepers.shift()
        now = Math.max(now, first.at)
        first.wake()
        await settled()
      }
      now = Math.max(now, at)
    },
  }
}
