import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work after which the event loop gets its turn: answers and timers wait no longer. */
const SLICE_MS = 10

/** Called between two pieces of work that is behind its time: yields to the event loop after each slice of it. */
export function createBreather(now: () => number): () => Promise<void> | undefined {
  let since = now()
  return () => {
    if (now() - since < SLICE_MS) return undefined
    return setImmediate().then(() => void (since = now()))
  }
}
