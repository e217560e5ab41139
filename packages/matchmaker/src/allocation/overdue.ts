import type { Life } from './life.js'
import type { Matches } from './matches.js'

/** Milliseconds for which tickets wait until what was created without capacity is stopped; then they return. */
const RETRY_PATIENCE_MS = 10_000
/** Milliseconds between two looks at how long matches have lasted: there may be many, and it does not matter to them. */
const ENDS_GAP_MS = 1000

/** Makes the function that ends what takes too long: matches without players, and those that last for too long. */
export function createOverdue({ matches, fail, stop }: Pick<Life, 'fail' | 'stop'> & { readonly matches: Matches }) {
  let nextEndsAt = 0

  const endStarting = (now: number) => {
    for (const match of matches.starting()) {
      const { phase, requestId, knownAt, order } = match
      if (requestId === undefined || order === undefined) continue
      if (phase === 'starting' && now - knownAt >= order.deploy.readyTimeoutMs) {
        fail(match, 'too-slow', true)
        stop(match, requestId)
      } else if (phase === 'retrying' && now - knownAt >= RETRY_PATIENCE_MS) {
        fail(match, 'no-capacity', true)
      }
    }
  }

  const endRunning = (now: number) => {
    for (const match of matches.all()) {
      if (match.phase !== 'running' || now < match.endsAt || match.requestId === undefined) continue
      match.unwanted ??= 'max-duration'
      stop(match, match.requestId)
    }
  }

  return (now: number): void => {
    endStarting(now)
    if (now < nextEndsAt) return
    nextEndsAt = now + ENDS_GAP_MS
    endRunning(now)
  }
}
