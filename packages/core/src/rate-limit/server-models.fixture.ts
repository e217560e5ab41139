/**
 * How a server may enforce `limit` requests per `windowMs`. Each model takes the times at which requests
 * reached it, in order, and says how many of them it refused; a refused one is not counted against the rest.
 */
type ServerModel = (times: readonly number[], limit: number, windowMs: number) => number

/** No more than `limit` in the `windowMs` up to and including the request. */
export const slidingLog: ServerModel = (times, limit, windowMs) => {
  const accepted: number[] = []
  for (const at of times) {
    const oldest = accepted[accepted.length - limit]
    if (oldest === undefined || oldest + windowMs <= at) accepted.push(at)
  }
  return times.length - accepted.length
}

/** Windows one after the other, the first of them starting at `phase`. */
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

/** A bucket of `limit` tokens, full at first, refilled evenly with `limit` per window. */
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
