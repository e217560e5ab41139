/** Sees to it that long work lets others have the event loop now and then. */
export interface Breather {
  /** Whether it is time to rest. */
  isDue(): boolean
  /** Lets the event loop turn once. */
  rest(): Promise<void>
  /** Milliseconds since this one was made. */
  spentMs(): number
}

/** Milliseconds of work between two rests (our choice): what a player or a health check may have to wait for an answer. */
const STRETCH_MS = 10

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
