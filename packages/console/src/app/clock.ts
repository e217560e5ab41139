/** The page's time source. Tests may replace it. */
export interface Clock {
  /** Returns epoch milliseconds. */
  readonly now: () => number
  /** Calls a function once after `ms` milliseconds. Returns a function that cancels the call. */
  readonly after: (ms: number, call: () => void) => () => void
}

export const browserClock: Clock = {
  now: () => Date.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}
