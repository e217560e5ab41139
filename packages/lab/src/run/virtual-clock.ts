import type { Clock } from '@muster/core/clock'

/** A clock that moves only on request, and many thousand times a second. */
export interface VirtualClock extends Clock {
  /** Lets all promise callbacks run; the event loop does not turn. */
  settle(): Promise<void>
  /** When the first sleeper wakes; Infinity if none sleeps. */
  nextAt(): number
  /** Moves to this time, waking every sleeper at its own instant, in order, with its promise callbacks. */
  reach(at: number): Promise<void>
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * Waits until no promise callback is left: what is queued for the next tick of the process by one of them runs after
 * all of them. It takes a third of a turn of the event loop, and nothing here waits for the world outside.
 */
const settled = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** @param start epoch milliseconds. */
export function createVirtualClock(start: number): VirtualClock {
  let now = start
  /** Sorted by instant, of equal ones by their begin. There are few: the matchmaker sleeps for all tickets together. */
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
      // From here on, this is a promise callback for every caller.
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
