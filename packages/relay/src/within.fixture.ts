import type { ManualClock } from '@muster/core/clock'

/** Moves the clock from sleeper to sleeper until the promise is settled. */
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
