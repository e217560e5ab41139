import { systemClock } from '@muster/core/clock'

/** Exit code, as shells have it for what SIGINT has ended. */
export const INTERRUPTED = 130

/** Within so many milliseconds a second signal is the first again: the terminal's, and the one that pnpm passes on. */
const SAME_MS = 500

/** Aborted by Ctrl-C; a second one ends the process at once. */
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
