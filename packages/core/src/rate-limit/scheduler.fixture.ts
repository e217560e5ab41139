import { createManualClock, type ManualClock } from '../time.js'
import { createBucket } from './token-bucket.js'
import { Scheduler, type SchedulerOptions, type CallSlot } from './scheduler.js'

/** Creates a bucket with the given number of starts per second. */
export const perSecond = (limit: number) => createBucket({ limit, windowMs: 1000 })

/** Creates a scheduler on a clock that begins at 0. */
export function setUp(options: Omit<SchedulerOptions, 'clock'> = {}) {
  const clock = createManualClock({ start: 0 })
  return { clock, scheduler: new Scheduler({ clock, ...options }) }
}

/** Creates a request that records its start and gets its response 10 ms after it is written. */
export const request = (clock: ManualClock, starts: string[], name: string) => async (slot: CallSlot) => {
  starts.push(`${name} at ${clock.now()}`)
  slot.written()
  await clock.sleep(10)
  return name
}

/** Runs all pending promise callbacks without moving the clock. */
export const settle = (clock: ManualClock) => clock.advance(0)

export const never = () => new Promise<never>(() => {})

/** Returns the reason of a rejection. */
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => {
      throw new Error(`the call must fail, but it returned ${String(value)}`)
    },
    (reason: unknown) => reason,
  )
