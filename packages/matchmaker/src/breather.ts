/** Yields the event loop at intervals during long work. */
export interface Breather {
  /** Whether it is time to yield. */
  isDue(): boolean
  /** Lets the event loop turn once. */
  rest(): Promise<void>
  /** Milliseconds since this breather was made. */
  spentMs(): number
}

/**
 * Milliseconds of work between two yields (our choice): players and health checks wait at most that long for an answer.
 */
const STRETCH_MS = 5

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** @param stopwatch milliseconds. */
export function createBreather(stopwatch: () => number): Breather {
  const startedAt = stopwatch()
  let restedAt = startedAt
  return {
    isDue: () => stopwatch() - restedAt >= STRETCH_MS,
    rest: async () => {
      await turn()
      restedAt = stopwatch()
    },
    spentMs: () => stopwatch() - startedAt,
  }
}
