// pure: which tokens of a token bucket are in use, and when each becomes free again, also those of unanswered requests
import { createList, createNumberQueue, type Entry, type List, type NumberQueue } from './collections.js'
import { type RequestObserver, WIDE_MS } from './count-bound.js'
import type { Permit } from './limiter.js'

/**
 * Tokens of requests that were written and ended without an answer. Such a request may be in a buffer, and be counted
 * when a stalled server continues. The first answer to a request written later shows that the server continues:
 * requests that ended before that one was written are counted within 250 ms of the answer (our choice). Until such an
 * answer the tokens become free one at a time, after one window, two, then every four; the requests that use them are
 * probes. The times passed in never decrease from one call to the next.
 */
interface Unanswered {
  /** Notes that a written request ended without an answer. */
  add(now: number): void
  /** Notes an answer at `now` to a request that was written at `writtenAt`. */
  answered(now: number, writtenAt: number): void
  /** Number of tokens in use. */
  out(now: number, windowMs: number): number
  /** When the next token becomes free if no answer comes until then; Infinity if no token is in use. */
  nextBack(windowMs: number): number
}

const LONGEST_GAP = 4

export function createUnanswered(): Unanswered {
  /** When each request ended, in ascending order. */
  const ended = createNumberQueue()
  /** The latest time at which each request is counted, once a later request was answered; in ascending order. */
  const counted = createNumberQueue()
  let lastProbe = Number.NEGATIVE_INFINITY
  let gap = 1

  const probeAt = (windowMs: number) => {
    const first = ended.first()
    return first === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(first + WIDE_MS + windowMs, lastProbe + gap * windowMs)
  }

  return {
    add: (now) => ended.push(now),
    answered: (now, writtenAt) => {
      gap = 1
      if (ended.size() === 0) return
      for (let first = ended.first(); first !== undefined && first <= writtenAt; first = ended.first()) {
        ended.shift()
        counted.push(now + WIDE_MS)
      }
    },
    out: (now, windowMs) => {
      if (ended.size() === 0 && counted.size() === 0) return 0
      for (let at = probeAt(windowMs); at <= now; at = probeAt(windowMs)) {
        ended.shift()
        lastProbe = at
        gap = Math.min(LONGEST_GAP, gap * 2)
      }
      for (let first = counted.first(); first !== undefined && first + windowMs <= now; first = counted.first())
        counted.shift()
      return ended.size() + counted.size()
    },
    nextBack: (windowMs) => Math.min((counted.first() ?? Number.POSITIVE_INFINITY) + windowMs, probeAt(windowMs)),
  }
}

/** The tokens in use. The times passed in never decrease from one call to the next. */
interface Ledger {
  /** Takes a token. `unused` is called if its request ends before it is written. */
  take(unused?: () => void): Permit
  /** Number of tokens in use at `now`; each stays in use for `windowMs` after its request was counted. */
  out(now: number, windowMs: number): number
  /**
   * The earliest time, after `now`, at which a token can become free, except that of a request which is never written.
   */
  nextBack(now: number, windowMs: number): number
  /**
   * When the oldest waiting request was written. Waiting requests have no answer and may be taken as counted: they were
   * written on connections used before, while there was a bound (see `createBucket`).
   */
  waitingSince(): number | undefined
  /** Takes the waiting requests that were written at least `boundMs` ago as counted at `countedAt`. */
  takeAsCounted(now: number, boundMs: number, countedAt: number): void
  /**
   * Discards what was concluded from the time between `from` and `now`, in which e.g. the event loop was blocked:
   * requests written since `from` that were taken as counted wait again, and all waiting requests are treated as
   * written now.
   */
  restart(now: number, from: number): void
}

/**
 * A token becomes free one window after the server can last have counted its request (`createBucket` explains why):
 * after the answer, or after `takeAsCounted`. A request that ends before it is written frees its token at once. For a
 * request that ends after it was written, without an answer, see `Unanswered`.
 *
 * @param observer notified of each written request.
 */
export function createLedger(observer: RequestObserver): Ledger {
  const books: Books = {
    observer,
    held: 0,
    answerOnly: 0,
    waiting: createList(),
    taken: createList(),
    counted: createNumberQueue(),
    lastCounted: Number.NEGATIVE_INFINITY,
    unanswered: createUnanswered(),
  }
  const { waiting, taken, counted, unanswered } = books

  return {
    take: (unused) => new Request(books, unused),
    out: (now, windowMs) => {
      for (let first = counted.first(); first !== undefined && first + windowMs <= now; first = counted.first())
        counted.shift()
      return books.held + books.answerOnly + waiting.size() + counted.size() + unanswered.out(now, windowMs)
    },
    // Any other request may be answered at this moment, which frees its token one window later.
    nextBack: (now, windowMs) => Math.min((counted.first() ?? now) + windowMs, unanswered.nextBack(windowMs)),
    waitingSince: () => waiting.first()?.item.since,
    takeAsCounted: (now, boundMs, countedAt) => {
      for (
        let first = waiting.first();
        first !== undefined && first.item.since + boundMs <= now;
        first = waiting.first()
      ) {
        first.item.move(waiting, taken)
        count(books, countedAt)
      }
    },
    restart: (now, from) => {
      for (const request of taken) if (request.writtenAt >= from) request.move(taken, waiting)
      for (const request of waiting) request.since = now
    },
  }
}

interface Books {
  readonly observer: RequestObserver
  /** Requests that are not written yet. */
  held: number
  /**
   * Written requests that only an answer shows to be counted, because they were written on new connections or while
   * there was no bound.
   */
  answerOnly: number
  readonly waiting: List<Request>
  /** Requests that were taken as counted, without an answer. */
  readonly taken: List<Request>
  /** The time by which each counted request was counted, in ascending order. */
  readonly counted: NumberQueue
  lastCounted: number
  readonly unanswered: Unanswered
}

function count(books: Books, at: number): void {
  books.lastCounted = Math.max(books.lastCounted, at)
  books.counted.push(books.lastCounted)
}

/** A class, because one is made for every request: three closures each took a tenth of the scheduler's time. */
class Request implements Permit {
  writtenAt = Number.NaN
  /** When it was written, or the later time of a restart. */
  since = Number.NaN
  #isFresh = false
  readonly #books: Books
  readonly #unused: (() => void) | undefined
  #state: 'held' | 'answer only' | 'waiting' | 'taken' | 'done' = 'held'
  #entry: Entry<Request> | undefined

  constructor(books: Books, unused: (() => void) | undefined) {
    this.#books = books
    this.#unused = unused
    books.held += 1
  }

  written(now: number, fresh = false): void {
    if (this.#state !== 'held') return
    const books = this.#books
    books.held -= 1
    this.writtenAt = this.since = now
    this.#isFresh = fresh
    const mayBeTaken = books.observer.written(now) && !fresh
    this.#state = mayBeTaken ? 'waiting' : 'answer only'
    if (mayBeTaken) this.#entry = books.waiting.push(this)
    else books.answerOnly += 1
  }

  answered(now: number): void {
    const { observer, unanswered } = this.#books
    const before = this.#end()
    if (before === 'done') return
    if (before !== 'held') {
      unanswered.answered(now, this.writtenAt)
      observer.answered(now, this.#isFresh ? undefined : now - this.writtenAt)
    }
    if (before !== 'taken') count(this.#books, now)
  }

  release(now: number): void {
    const { observer, unanswered } = this.#books
    const before = this.#end()
    if (before === 'done') return
    if (before === 'held') return this.#unused?.()
    observer.lost()
    if (before !== 'taken') unanswered.add(now)
  }

  move(from: List<Request>, to: List<Request>): void {
    if (this.#entry !== undefined) from.remove(this.#entry)
    this.#entry = to.push(this)
    this.#state = to === this.#books.taken ? 'taken' : 'waiting'
  }

  /** Ends the request and returns the state it was in before. */
  #end() {
    const books = this.#books
    const before = this.#state
    this.#state = 'done'
    if (before === 'held') books.held -= 1
    else if (before === 'answer only') books.answerOnly -= 1
    else if (before !== 'done' && this.#entry !== undefined)
      (before === 'taken' ? books.taken : books.waiting).remove(this.#entry)
    return before
  }
}
