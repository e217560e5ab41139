// pure: which tokens are out, and when each comes back

import type { RequestObserver } from './count-bound.js'
import type { Permit } from './limiter.js'
import { createList, type Entry, type List } from './list.js'
import { createNumberQueue } from './number-queue.js'
import { createUnanswered } from './unanswered.js'

/** The tokens that are out. Times never go back from one call to the next. */
export interface Ledger {
  /** Hands out a token. `unused` is called if its request ends before it is written. */
  take(unused?: () => void): Permit
  /** How many tokens are out at `now`, where each stays out for `windowMs` after its request was counted. */
  out(now: number, windowMs: number): number
  /** The time before which no token can come back, save that of a request that is never written. Later than `now`. */
  nextBack(now: number, windowMs: number): number
  /** When the first of the waiting requests was written: those on used connections that have no answer and are not taken as counted. */
  waitingSince(): number | undefined
  /** Takes the waiting requests as counted at `countedAt` that were written `boundMs` ago or earlier. */
  takeAsCounted(now: number, boundMs: number, countedAt: number): void
  /**
   * The time from `from` until `now` tells nothing: requests written since then that were taken as counted wait again, and all
   * that wait are treated as written now.
   */
  restart(now: number, from: number): void
}

interface Request {
  state: 'held' | 'fresh' | 'waiting' | 'taken' | 'done'
  writtenAt: number
  /** As `writtenAt`, or later after a restart. */
  since: number
  /** Its place among those that wait, or that were taken as counted without an answer. */
  entry: Entry<Request> | undefined
}

/**
 * A token comes back one window after the server can last have counted the request that used it (see `createBucket` for
 * why): after its answer, or after `takeAsCounted`. A request that ends before it is written gives its token back at once;
 * for one that ends later without an answer see `Unanswered`.
 *
 * @param observer told of each request that is written.
 */
export function createLedger(observer: RequestObserver): Ledger {
  let held = 0
  /** Written on new connections, without an answer. */
  let fresh = 0
  const waiting = createList<Request>()
  const taken = createList<Request>()
  /** For each request that was counted, the time by which it was; in order. */
  const counted = createNumberQueue()
  let lastCounted = Number.NEGATIVE_INFINITY
  const unanswered = createUnanswered()

  const count = (at: number) => {
    lastCounted = Math.max(lastCounted, at)
    counted.push(lastCounted)
  }

  /** Ends a request, with an answer or without. Gives whether its token is still to be accounted for. */
  const end = (request: Request): boolean => {
    const { state, entry } = request
    request.state = 'done'
    if (state === 'held') held -= 1
    else if (state === 'fresh') fresh -= 1
    else if (entry !== undefined) (state === 'taken' ? taken : waiting).remove(entry)
    return state !== 'taken'
  }

  const move = (request: Request, from: List<Request>, to: List<Request>) => {
    if (request.entry !== undefined) from.remove(request.entry)
    request.entry = to.push(request)
    request.state = to === taken ? 'taken' : 'waiting'
  }

  return {
    take: (unused) => {
      const request: Request = { state: 'held', writtenAt: Number.NaN, since: Number.NaN, entry: undefined }
      held += 1
      return {
        written: (now, isFresh = false) => {
          if (request.state !== 'held') return
          held -= 1
          request.writtenAt = request.since = now
          request.state = isFresh ? 'fresh' : 'waiting'
          if (isFresh) fresh += 1
          else request.entry = waiting.push(request)
          observer.written(now)
        },
        answered: (now) => {
          if (request.state === 'done') return
          if (request.state !== 'held') {
            unanswered.answered(now, request.writtenAt)
            observer.answered(now, now - request.writtenAt)
          }
          if (end(request)) count(now)
        },
        release: (now) => {
          if (request.state === 'done') return
          const written = request.state !== 'held'
          if (written) observer.lost()
          if (!end(request)) return
          if (written) unanswered.add(now)
          else unused?.()
        },
      }
    },
    out: (now, windowMs) => {
      for (let first = counted.first(); first !== undefined && first + windowMs <= now; first = counted.first()) counted.shift()
      return held + fresh + waiting.size() + counted.size() + unanswered.out(now, windowMs)
    },
    // Any other request may be answered this very moment, and its token is back a window later.
    nextBack: (now, windowMs) => Math.min((counted.first() ?? now) + windowMs, unanswered.nextBack(windowMs)),
    waitingSince: () => waiting.first()?.item.since,
    takeAsCounted: (now, boundMs, countedAt) => {
      for (let first = waiting.first(); first !== undefined && first.item.since + boundMs <= now; first = waiting.first()) {
        move(first.item, waiting, taken)
        count(countedAt)
      }
    },
    restart: (now, from) => {
      for (const request of taken) if (request.writtenAt >= from) move(request, taken, waiting)
      for (const request of waiting) request.since = now
    },
  }
}
