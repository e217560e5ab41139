// pure: how long a queue pauses after a 429

export interface PauseOptions {
  /** The first pause where the service names none, in milliseconds. Each further one in a row is twice as long. */
  readonly pauseMs: number
  /** The longest that the service can ask for, in milliseconds. */
  readonly maxPauseMs: number
}

export interface Pause {
  /** Epoch milliseconds; in the past when there is none. */
  until(): number
  /**
   * A request that started at `startedAt` was refused. Those that were under way together are refused together, and
   * make one pause.
   */
  refused(now: number, retryAfterMs: number | undefined, startedAt: number): void
  /** A request was not refused. */
  accepted(): void
  /** Whether more than one pause has passed without any request accepted, so that one at a time should try. */
  probing(): boolean
}

/** The longest pause that the service did not ask for is so many times the first. */
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
