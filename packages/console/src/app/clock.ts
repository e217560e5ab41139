/** Time as the page takes it, so that tests may give another. */
export interface Clock {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Calls once after so many milliseconds. Returns what cancels it. */
  readonly after: (ms: number, call: () => void) => () => void
}

export const browserClock: Clock = {
  now: () => Date.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}
