/** Yields the event loop at intervals during long work. */
export interface Yielder {
  /** Whether it is time to yield. */
  isDue(): boolean
  /** Lets the event loop turn once. */
  yieldNow(): Promise<void>
  /** Milliseconds since this yielder was made. */
  spentMs(): number
}

/**
 * Milliseconds of work between two yields (our choice): players and health checks wait at most that long for an answer.
 */
const STRETCH_MS = 5

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** @param stopwatch milliseconds. */
export function createYielder(stopwatch: () => number): Yielder {
  const startedAt = stopwatch()
  let yieldedAt = startedAt
  return {
    isDue: () => stopwatch() - yieldedAt >= STRETCH_MS,
    yieldNow: async () => {
      await turn()
      yieldedAt = stopwatch()
    },
    spentMs: () => stopwatch() - startedAt,
  }
}
