// pure: when to try again

export interface Backoff {
  /** Milliseconds: the first wait is at most this long, each further one at most twice the one before. */
  readonly baseMs: number
  /** Milliseconds: no wait is longer. */
  readonly capMs: number
  /**
   * The random part of a wait, so that callers that failed together do not retry together. Default 1: the whole wait.
   */
  readonly jitter?: number | undefined
}

/**
 * Milliseconds to wait before the next attempt.
 * @param failures attempts that failed so far, from 1.
 * @param random a number from 0 to 1.
 */
export function backoffMs(failures: number, random: number, { baseMs, capMs, jitter = 1 }: Backoff): number {
  return Math.min(capMs, baseMs * 2 ** (failures - 1)) * (1 - jitter + jitter * random)
}
