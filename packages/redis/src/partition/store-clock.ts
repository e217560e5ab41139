import type { Clock } from '@muster/core/clock'
import type { PartitionStore } from './store/index.js'

export interface StoreClockOptions {
  readonly store: Pick<PartitionStore, 'time'>
  /** That of this process, which is never set back. */
  readonly clock: Clock
  /** Called when the two clocks differ by seconds more than last reported. @param offsetMs the difference. */
  readonly differs: (offsetMs: number) => void
}

/**
 * By how much faster or slower than the monotonic clock the store's time may pass, so that a step of the store's clock
 * makes nobody wait ten minutes in a moment (our choice).
 */
const SLEW = 0.1
/** A difference of fewer milliseconds from the store's time is none, for dates. */
const SMALLEST_STEP_MS = 250
/** Differences from here on are reported. Milliseconds. */
const REPORTED_MS = 5000

/**
 * The time of the store, read from the monotonic clock of this process. All processes of a partition agree on it, so
 * that what one has stored is as old for the next, whatever their machines' clocks say and however these are set.
 */
export function createStoreClock({ store, clock, differs }: StoreClockOptions) {
  /** The difference at a moment of `clock`, and where it goes from there. */
  let from = { at: clock.now(), offset: 0 }
  let target = 0
  let isMeasured = false
  let reported = 0

  const offsetAt = (at: number): number => {
    const most = (at - from.at) * SLEW
    return from.offset + Math.min(Math.max(target - from.offset, -most), most)
  }

  return {
    now: () => {
      const at = clock.now()
      return at + offsetAt(at)
    },
    /** The date is the store's, on which all processes agree; small differences are those of the measurement. */
    wallStepMs: () => {
      const pendingMs = target - offsetAt(clock.now())
      return Math.abs(pendingMs) < SMALLEST_STEP_MS ? 0 : Math.round(pendingMs)
    },
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
    /** Reads the store's time, and corrects the difference. Rejects if the store does. */
    measure: async () => {
      const askedAt = clock.now()
      const time = await store.time()
      const at = clock.now()
      // The store read its clock in between, in whole milliseconds: an offset that fits already is kept.
      const [least, most] = [time - at, time + 1 - askedAt]
      const offset = offsetAt(at)
      target = Math.min(Math.max(target, least), most)
      from = { at, offset: isMeasured ? offset : target }
      isMeasured = true
      if (Math.abs(target - reported) < REPORTED_MS) return
      reported = target
      differs(target)
    },
    /** Milliseconds by which the store's time was ahead of this process' at the last measurement. */
    offsetMs: () => target,
  }
}
