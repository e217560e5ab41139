interface PauseOptions {
  /** Milliseconds of the first pause if the service names none. Each further pause in a row is twice as long. */
  readonly pauseMs: number
  /** Maximum pause in milliseconds that the service can impose. */
  readonly maxPauseMs: number
}

/** The pause of a queue after a 429. */
export interface Pause {
  /** Returns the epoch milliseconds at which the pause ends; a time in the past if there is no pause. */
  until(): number
  /** Records that a request started at `startedAt` was refused. Concurrent requests cause one pause. */
  refused(now: number, retryAfterMs: number | undefined, startedAt: number): void
  /** Records that a request was accepted. */
  accepted(): void
  /**
   * True if several pauses have passed without an accepted request, so that single requests should test the service.
   */
  probing(): boolean
}

/** Maximum pause that the service did not impose, as a multiple of `pauseMs`. */
const LONGEST = 8

export function createPause({ pauseMs, maxPauseMs }: PauseOptions): Pause {
  let until = Number.NEGATIVE_INFINITY
  let begunAt = Number.NEGATIVE_INFINITY
  let inRow = 0

  return {
    until: () => until,
    refused: (now, retryAfterMs, startedAt) => {
      const isNew = startedAt > begunAt
      if (isNew) {
        inRow += 1
        begunAt = now
      }
      const wish = retryAfterMs !== undefined && retryAfterMs >= 0 ? retryAfterMs : undefined
      if (wish === undefined && !isNew) return
      const ms = wish ?? pauseMs * Math.min(LONGEST, 2 ** (inRow - 1))
      until = Math.max(until, now + Math.min(ms, maxPauseMs))
    },
    accepted: () => {
      inRow = 0
    },
    probing: () => inRow > 1,
  }
}
