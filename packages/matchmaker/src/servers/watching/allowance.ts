// pure: how many reads there may be

/** A token bucket: a rate per second, of which a quarter of a second's worth may be used at once. */
export interface Allowance {
  /** @param now epoch milliseconds, never less than before. */
  left(now: number): number
  /** Uses one token, even if none is left. */
  use(now: number): void
  /** Whether enough tokens are left for uses that can wait. */
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
