import { createScheduler } from '@muster/core/internal'
import { systemClock } from '@muster/core/clock'
import PQueue from 'p-queue'

const CALLS = 10_000

type Schedule = (signal: AbortSignal) => Promise<unknown>

const never = () => new Promise<never>(() => {})

/** Milliseconds to abort 10,000 waiting calls one by one, the last first: the reason for a queue of our own. */
export async function abortCost(): Promise<Readonly<Record<string, number>>> {
  const queue = new PQueue({ concurrency: 1 })
  const scheduler = createScheduler({ clock: systemClock, maxInFlight: 1 })
  return {
    'p-queue': await millisecondsToAbort((signal) => queue.add(never, { signal })),
    muster: await millisecondsToAbort((signal) => scheduler.run(never, { signal })),
  }
}

async function millisecondsToAbort(schedule: Schedule): Promise<number> {
  const aborts = Array.from({ length: CALLS }, () => new AbortController())
  const calls = aborts.map(({ signal }) => schedule(signal))
  const settled = Promise.allSettled(calls)
  const start = systemClock.now()
  for (const abort of aborts.toReversed()) abort.abort('enough')
  await settled
  return Math.round(systemClock.now() - start)
}
