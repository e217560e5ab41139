import { createManualClock, type ManualClock } from '../time.js'
import { createBucket } from './token-bucket.js'
import { createScheduler, type SchedulerOptions, type Slot } from './scheduler.js'

/** A bucket of that many starts per second. */
export const perSecond = (limit: number) => createBucket({ limit, windowMs: 1000 })

/** A scheduler on a clock that begins at 0. */
export function setUp(options: Omit<SchedulerOptions, 'clock'> = {}) {
  const clock = createManualClock({ start: 0 })
  return { clock, scheduler: createScheduler({ clock, ...options }) }
}

/** A request that is answered 10 ms after it is written. Notes its start. */
export const request = (clock: ManualClock, starts: string[], name: string) => async (slot: Slot) => {
  starts.push(`${name} at ${clock.now()}`)
  slot.written()
  await clock.sleep(10)
  return name
}

/** Runs all pending promise callbacks without moving the clock. */
export const settle = (clock: ManualClock) => clock.advance(0)

export const never = () => new Promise<never>(() => {})

/** The reason of a rejection. */
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => {
      throw new Error(`expected a failure, not ${String(value)}`)
    },
    (reason: unknown) => reason,
  )
