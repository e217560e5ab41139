import type { Clock } from '@muster/core/clock'
import type { PartitionStore } from './store/index.js'

export interface StoreClockOptions {
  readonly store: Pick<PartitionStore, 'time'>
  /** The clock of this process, which is never set back. */
  readonly clock: Clock
  /**
   * Called when the difference of the two clocks has changed by seconds since the last report. @param offsetMs the
   * difference.
   */
  readonly differs: (offsetMs: number) => void
}

/**
 * Maximum share by which this clock may run faster or slower than the monotonic clock (our choice). So if the store's
 * clock is set, nobody's wait jumps by minutes.
 */
const SLEW = 0.1
/** Maximum difference in milliseconds from the store's time that dates ignore. */
const SMALLEST_STEP_MS = 250
/** Minimum difference in milliseconds that is reported. */
const REPORTED_MS = 5000

/**
 * Creates a clock with the time of the store, derived from the monotonic clock of this process. All processes of a
 * partition agree on it. So stored data has the same age for each, whatever their machines' clocks show.
 */
export function createStoreClock({ store, clock, differs }: StoreClockOptions) {
  /** The offset of the store's clock, at a time of `clock`. From there it slews to `target`. */
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
    /** Dates follow the store, on which all processes agree. Small differences are measurement errors. */
    wallStepMs: () => {
      const pendingMs = target - offsetAt(clock.now())
      return Math.abs(pendingMs) < SMALLEST_STEP_MS ? 0 : Math.round(pendingMs)
    },
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
    /** Reads the store's time and corrects the difference. Rejects if the store does. */
    measure: async () => {
      const askedAt = clock.now()
      const time = await store.time()
      const at = clock.now()
      // The store read its clock between query and reply, in whole milliseconds. Keep an offset that fits both times.
      const [least, most] = [time - at, time + 1 - askedAt]
      const offset = offsetAt(at)
      target = Math.min(Math.max(target, least), most)
      from = { at, offset: isMeasured ? offset : target }
      isMeasured = true
      if (Math.abs(target - reported) < REPORTED_MS) return
      reported = target
      differs(target)
    },
    /** Returns the milliseconds by which the store's time was ahead of this process's clock at the last measurement. */
    offsetMs: () => target,
  }
}
