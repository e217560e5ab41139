/** The page's time source. Tests may replace it. */
export interface Clock {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Calls once after this number of milliseconds. Returns a function that cancels it. */
  readonly after: (ms: number, call: () => void) => () => void
}

export const browserClock: Clock = {
  now: () => Date.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}
