import type { Clock } from '@muster/core/clock'

/** A clock that only moves on request, many thousand times per second. */
export interface VirtualClock extends Clock {
  /** Lets all promise callbacks run; the event loop does not turn. */
  settle(): Promise<void>
  /** Time of the next sleeper; Infinity if none sleeps. */
  nextAt(): number
  /** Moves to this time, waking every sleeper at its own time, in order, followed by its promise callbacks. */
  reach(at: number): Promise<void>
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * Waits until no promise callback is left: a callback of `process.nextTick` that one of them queues runs after all of
 * them. It takes a third of a turn of the event loop, and nothing here waits for I/O.
 */
const settled = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** @param start epoch milliseconds. */
export function createVirtualClock(start: number): VirtualClock {
  let now = start
  /** Sorted by time, then by start. There are few, because the matchmaker sleeps once for all tickets. */
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
      // The code below is a promise callback for every caller.
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
