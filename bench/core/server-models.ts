/**
 * A way in which a server may enforce `limit` requests per `windowMs`. It gets the times at which requests reached the
 * server, in order. It returns how many of them the server would refuse. A refused request does not count.
 */
type ServerModel = (times: readonly number[], limit: number, windowMs: number) => number

/** Accepts at most `limit` requests in the window that ends with a request. */
const slidingLog: ServerModel = (times, limit, windowMs) => {
  const accepted: number[] = []
  for (const at of times) {
    const oldest = accepted.at(-limit)
    if (accepted.length < limit || oldest === undefined || at - oldest >= windowMs) accepted.push(at)
  }
  return times.length - accepted.length
}

/**
 * Accepts at most `limit` requests in each of consecutive windows. The first window begins at the request that gives
 * the most refusals.
 */
const fixedWindow: ServerModel = (times, limit, windowMs) => {
  const refusedIn = (phase: number) => {
    const perWindow = new Map<number, number>()
    for (const at of times) {
      const window = Math.floor((at - phase) / windowMs)
      perWindow.set(window, (perWindow.get(window) ?? 0) + 1)
    }
    return Array.from(perWindow.values()).reduce((refused, count) => refused + Math.max(0, count - limit), 0)
  }
  return Math.max(...times.map(refusedIn))
}

/** A bucket of `limit` tokens. It is full at first, and refills evenly with `limit` tokens per window. */
const tokenBucket: ServerModel = (times, limit, windowMs) => {
  let refused = 0
  let tokens = limit
  let filledAt = times[0] ?? 0
  for (const at of times) {
    tokens = Math.min(limit, tokens + ((at - filledAt) * limit) / windowMs)
    filledAt = at
    if (tokens >= 1) tokens -= 1
    else refused += 1
  }
  return refused
}

export const serverModels = {
  'sliding log': slidingLog,
  'fixed window in its worst phase': fixedWindow,
  'token bucket': tokenBucket,
} as const
