import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work after which the event loop runs. Responses and timers wait no longer than this. */
const SLICE_MS = 10

/**
 * Creates a function for work that takes long. Call it between two pieces of the work: after each `SLICE_MS`, it lets
 * the event loop run.
 */
export function createBreather(now: () => number): () => Promise<void> | undefined {
  let since = now()
  return () => {
    if (now() - since < SLICE_MS) return undefined
    return setImmediate().then(() => void (since = now()))
  }
}
