import { systemClock } from '@muster/core/clock'

/** Exit code of a program that SIGINT has ended, as in shells. */
export const INTERRUPTED = 130

/** A second signal within this number of milliseconds is a copy of the first: both the terminal and pnpm send it. */
const SAME_MS = 500

/** Returns a signal that Ctrl-C aborts. A second Ctrl-C ends the process at once. */
export function onInterrupt(): AbortSignal {
  const controller = new AbortController()
  let first: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      first ??= systemClock.now()
      if (systemClock.now() - first > SAME_MS) {
        console.log('\n  Ended at once. Service and servers were all in this process: nothing is left running.')
        process.exit(INTERRUPTED)
      }
      controller.abort()
    })
  }
  return controller.signal
}
