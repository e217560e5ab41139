/**
 * A way in which a server may enforce `limit` requests per `windowMs`. It gets the times at which requests reached the
 * server, in order. It returns how many of them the server refused. A refused request does not count against the limit.
 */
type ServerModel = (times: readonly number[], limit: number, windowMs: number) => number

/** Allows at most `limit` requests in the `windowMs` up to and including each request. */
export const slidingLog: ServerModel = (times, limit, windowMs) => {
  const accepted: number[] = []
  for (const at of times) {
    const oldest = accepted[accepted.length - limit]
    if (oldest === undefined || oldest + windowMs <= at) accepted.push(at)
  }
  return times.length - accepted.length
}

/** Allows at most `limit` requests in each of consecutive windows, the first of which starts at `phase`. */
export const fixedWindow =
  (phase: number): ServerModel =>
  (times, limit, windowMs) => {
    let refused = 0
    let current = Number.NaN
    let inWindow = 0
    for (const at of times) {
      const window = Math.floor((at - phase) / windowMs)
      if (window !== current) inWindow = 0
      current = window
      if (inWindow < limit) inWindow += 1
      else refused += 1
    }
    return refused
  }

/**
 * Allows a request for each token of a bucket of `limit` tokens. It is full at first, and refilled evenly with `limit`
 * tokens per window.
 */
export const tokenBucket: ServerModel = (times, limit, windowMs) => {
  let refused = 0
  let tokens = limit
  let filledAt = Number.NEGATIVE_INFINITY
  for (const at of times) {
    tokens = Math.min(limit, tokens + ((at - filledAt) * limit) / windowMs)
    filledAt = at
    if (tokens >= 1 - 1e-9) tokens -= 1
    else refused += 1
  }
  return refused
}
