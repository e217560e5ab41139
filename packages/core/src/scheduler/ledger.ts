// pure: which tokens are out, and when each comes back

import type { Permit } from './limiter.js'
import { createList, type Entry } from './list.js'
import { createNumberQueue } from './number-queue.js'

/** The tokens that are out. Times never go back from one call to the next. */
export interface Ledger {
  /** Hands out a token. `unused` is called if its request ends before it is written. */
  take(unused?: () => void): Permit
  /** How many tokens are out at `now`, where each stays out for `windowMs` after its request was counted. */
  out(now: number, windowMs: number): number
  /** The time before which no token can come back, save that of a request that is never written. Later than `now`. */
  nextBack(now: number, windowMs: number): number
}

interface Request {
  state: 'held' | 'written' | 'counted' | 'unused'
  /** NaN until it is written. */
  writtenAt: number
}

/**
 * A token comes back one window after the server can last have counted the request that used it, which is
 * the earlier of its answer and `written + jitterMs` (see `createBucket` for why). A request that ends
 * before it is written gives its token back at once.
 */
export function createLedger(jitterMs: number): Ledger {
  let held = 0
  /** Requests the server may count later than now, in the order of writing. */
  const written = createList<Request>()
  /** For each of the others, the time by which the server had counted it; in order. */
  const counted = createNumberQueue()

  const count = (request: Request, at: number) => {
    request.state = 'counted'
    counted.push(at)
  }

  /** Notes what has become certain by `now`. Before each answer too, so that `counted` stays in order. */
  const settle = (now: number) => {
    for (let first = written.first(); first !== undefined; first = written.first()) {
      const latest = first.item.writtenAt + jitterMs
      if (latest > now) return
      written.remove(first)
      count(first.item, latest)
    }
  }

  return {
    take: (unused) => {
      const request: Request = { state: 'held', writtenAt: Number.NaN }
      let entry: Entry<Request> | undefined
      held += 1
      return {
        written: (now) => {
          if (request.state !== 'held') return
          held -= 1
          request.state = 'written'
          request.writtenAt = now
          entry = written.push(request)
        },
        answered: (now) => {
          settle(now)
          if (request.state === 'held') held -= 1
          else if (request.state === 'written' && entry !== undefined) written.remove(entry)
          else return
          count(request, now)
        },
        release: () => {
          if (request.state !== 'held') return
          held -= 1
          request.state = 'unused'
          unused?.()
        },
      }
    },
    out: (now, windowMs) => {
      settle(now)
      for (let first = counted.first(); first !== undefined && first + windowMs <= now; first = counted.first()) counted.shift()
      return held + written.size() + counted.size()
    },
    // Any other request may be answered this very moment, and its token is back a window later.
    nextBack: (now, windowMs) => (counted.first() ?? now) + windowMs,
  }
}
