// pure: the rate limit of status reads

/** A token bucket with a rate per second; a quarter of a second's tokens may be used at once. */
export interface Allowance {
  /**
   * Tokens left.
   * @param now epoch milliseconds, never less than in an earlier call.
   */
  left(now: number): number
  /** Uses one token, even if none is left. */
  use(now: number): void
  /** Whether at least half of the tokens are left: reads that can wait need that, so that urgent reads find tokens. */
  isAmple(now: number): boolean
}

export function createAllowance(perSecond: number, start: number): Allowance {
  const most = Math.max(1, perSecond / 4)
  let tokens = most
  let filledAt = start
  const left = (now: number) => {
    tokens = Math.min(most, tokens + ((now - filledAt) / 1000) * perSecond)
    filledAt = now
    return tokens
  }
  return {
    left,
    use: (now) => {
      tokens = left(now) - 1
    },
    isAmple: (now) => left(now) >= most / 2,
  }
}
