// pure: how long a queue pauses after a 429

export interface PauseOptions {
  /** Milliseconds of the first pause if the service names none. Each further pause in a row is twice as long. */
  readonly pauseMs: number
  /** The longest pause in milliseconds that the service can ask for. */
  readonly maxPauseMs: number
}

export interface Pause {
  /** Epoch milliseconds at which the pause ends; in the past if there is none. */
  until(): number
  /**
   * Notes that a request started at `startedAt` was refused. Requests under way together are refused together, and
   * cause one pause.
   */
  refused(now: number, retryAfterMs: number | undefined, startedAt: number): void
  /** Notes that a request was accepted. */
  accepted(): void
  /** Whether several pauses have passed without an accepted request, so that single requests should probe. */
  probing(): boolean
}

/** The longest pause that the service did not ask for, as a multiple of the first. */
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
