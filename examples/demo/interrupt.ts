import { systemClock } from '@muster/core/clock'

/** Exit code, as shells have it for what SIGINT has ended. */
export const INTERRUPTED = 130

/** A second signal within this many milliseconds is the first again: the terminal's, passed on by pnpm. */
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
