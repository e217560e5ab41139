// pure: the used tokens of a token bucket, and when each becomes free, including those of unanswered requests
import { type RequestObserver, WIDE_MS } from './count-bound.js'
import type { Permit } from './limiter-types.js'

const LONGEST_GAP = 4

/**
 * Tokens of requests that were written and ended without a response. Such a request may be in a buffer, and be counted
 * when a stalled server continues. The first response to a request written later shows that the server continues. Then
 * requests that had ended before are counted within 250 ms of that response (our choice). Until such a response, the
 * tokens become free one at a time: after one window, after two, then after every four. The requests that use them show
 * whether the server continues. The times passed in never decrease from one call to the next.
 */
export function createUnanswered() {
  /** The end times of the requests, in ascending order. */
  const ended: number[] = []
  /** Times by which requests are counted, in ascending order. They are known once a later request was answered. */
  const counted: number[] = []
  let lastProbe = Number.NEGATIVE_INFINITY
  let gap = 1

  const probeAt = (windowMs: number) => Math.max(firstOf(ended) + WIDE_MS + windowMs, lastProbe + gap * windowMs)

  return {
    /** Records that a written request ended without a response. */
    add: (now: number) => void ended.push(now),
    /** Records a response at `now` to a request that was written at `writtenAt`. */
    answered: (now: number, writtenAt: number) => {
      gap = 1
      while (firstOf(ended) <= writtenAt) {
        ended.shift()
        counted.push(now + WIDE_MS)
      }
    },
    /** Returns the number of used tokens. */
    out: (now: number, windowMs: number) => {
      for (let at = probeAt(windowMs); at <= now; at = probeAt(windowMs)) {
        ended.shift()
        lastProbe = at
        gap = Math.min(LONGEST_GAP, gap * 2)
      }
      while (firstOf(counted) + windowMs <= now) counted.shift()
      return ended.length + counted.length
    },
    /**
     * Returns the time at which the next token becomes free if no response comes until then; Infinity if no token is in
     * use.
     */
    nextBack: (windowMs: number) => Math.min(firstOf(counted) + windowMs, probeAt(windowMs)),
  }
}

/** Returns the first of the times; Infinity for an empty list. */
const firstOf = ([first = Number.POSITIVE_INFINITY]: readonly number[]) => first

/** The used tokens. The times passed in never decrease from one call to the next. */
interface TokenLedger {
  /** Takes a token. `unused` is called if the token's request ends before it is written. */
  take(unused?: () => void): Permit
  /** Returns the number of used tokens at `now`. Each stays in use for `windowMs` after its request was counted. */
  out(now: number, windowMs: number): number
  /** Returns the earliest time after `now` at which the token of a written request can become free. */
  nextBack(now: number, windowMs: number): number
  /**
   * Returns the time at which the oldest waiting request was written. Waiting requests have no response yet, and may be
   * regarded as counted without one (see `createBucket`).
   */
  waitingSince(): number | undefined
  /** Regards the waiting requests that were written at least `boundMs` ago as counted at `countedAt`. */
  takeAsCounted(now: number, boundMs: number, countedAt: number): void
  /**
   * Discards conclusions from the time between `from` and `now`, e.g. because the event loop was blocked. Requests
   * written after `from` that were regarded as counted wait again. All waiting requests are treated as if they were
   * written now.
   */
  restart(now: number, from: number): void
}

/**
 * Creates the ledger. A token becomes free one window after the latest time at which the server can have counted its
 * request: after the response, or after `takeAsCounted`. `createBucket` explains why. A request that ends before it is
 * written frees its token immediately. For a request that ends without a response after it was written, see
 * `createUnanswered`.
 *
 * @param observer notified of each written request.
 */
export function createLedger(observer: RequestObserver): TokenLedger {
  /** Number of tokens whose requests are not written yet. */
  let held = 0
  /**
   * Number of written requests that only a response proves to be counted: on new connections, or while there was no
   * bound.
   */
  let answerOnly = 0
  /** Written requests without a response that may be regarded as counted, in the order of writing. */
  const waiting = new Set<WrittenRequest>()
  /** Requests without a response that are already regarded as counted. */
  const taken = new Set<WrittenRequest>()
  /** The time by which each counted request was counted, in ascending order. */
  const counted: number[] = []
  let lastCounted = Number.NEGATIVE_INFINITY
  const unanswered = createUnanswered()

  const count = (at: number) => {
    lastCounted = Math.max(lastCounted, at)
    counted.push(lastCounted)
  }
  /** Ends a written request. Returns true if it was regarded as counted before. */
  const end = (request: WrittenRequest): boolean => {
    const wasTaken = taken.delete(request)
    if (!wasTaken && !waiting.delete(request)) answerOnly -= 1
    return wasTaken
  }

  const take = (unused?: () => void): Permit => {
    let state: 'held' | 'ended' | WrittenRequest = 'held'
    held += 1
    return {
      written: (now, isFresh = false) => {
        if (state !== 'held') return
        held -= 1
        state = { writtenAt: now, since: now, isFresh }
        if (observer.written(now) && !isFresh) waiting.add(state)
        else answerOnly += 1
      },
      answered: (now) => {
        const before = state
        state = 'ended'
        if (before === 'ended') return
        if (before === 'held') {
          held -= 1
          return count(now)
        }
        const wasTaken = end(before)
        unanswered.answered(now, before.writtenAt)
        observer.answered(now, before.isFresh ? undefined : now - before.writtenAt)
        if (!wasTaken) count(now)
      },
      release: (now) => {
        const before = state
        state = 'ended'
        if (before === 'ended') return
        if (before === 'held') {
          held -= 1
          return unused?.()
        }
        const wasTaken = end(before)
        observer.lost()
        if (!wasTaken) unanswered.add(now)
      },
    }
  }

  return {
    take,
    out: (now, windowMs) => {
      while (firstOf(counted) + windowMs <= now) counted.shift()
      return held + answerOnly + waiting.size + counted.length + unanswered.out(now, windowMs)
    },
    // A waiting request may get its response now, which would free its token in one window.
    nextBack: (now, windowMs) => Math.min((counted[0] ?? now) + windowMs, unanswered.nextBack(windowMs)),
    waitingSince: () => waiting.values().next().value?.since,
    takeAsCounted: (now, boundMs, countedAt) => {
      for (const request of waiting) {
        if (request.since + boundMs > now) break
        waiting.delete(request)
        taken.add(request)
        count(countedAt)
      }
    },
    restart: (now, from) => {
      for (const request of taken) {
        if (request.writtenAt < from) continue
        taken.delete(request)
        waiting.add(request)
      }
      for (const request of waiting) request.since = now
    },
  }
}

interface WrittenRequest {
  readonly writtenAt: number
  /** Time at which the request was written, or of a later `restart`. */
  since: number
  /** True if the request was the first on its connection. */
  readonly isFresh: boolean
}
