import type { ManualClock } from '@muster/core/clock'

/** Lets time pass, from one sleeper to the next, until the promise has ended. */
export async function within<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  const outcome = { ended: false }
  const end = () => {
    outcome.ended = true
  }
  promise.then(end, end)
  await new Promise((resolve) => setImmediate(resolve))
  while (!outcome.ended && (await clock.next()));
  return promise
}
