// pure: which tokens are out, and when each comes back

import type { RequestObserver } from './count-bound.js'
import type { Permit } from './limiter.js'
import { createList, type Entry, type List } from './list.js'
import { createNumberQueue, type NumberQueue } from './number-queue.js'
import { createUnanswered, type Unanswered } from './unanswered.js'

/** The tokens that are out. Times never go back from one call to the next. */
export interface Ledger {
  /** Hands out a token. `unused` is called if its request ends before it is written. */
  take(unused?: () => void): Permit
  /** How many tokens are out at `now`, where each stays out for `windowMs` after its request was counted. */
  out(now: number, windowMs: number): number
  /** The time before which no token can come back, save that of a request that is never written. Later than `now`. */
  nextBack(now: number, windowMs: number): number
  /**
   * When the first of the waiting requests was written: those without an answer that may be taken as counted, as they
   * were written on used connections while there was a bound.
   */
  waitingSince(): number | undefined
  /** Takes the waiting requests as counted at `countedAt` that were written `boundMs` ago or earlier. */
  takeAsCounted(now: number, boundMs: number, countedAt: number): void
  /**
   * The time from `from` until `now` tells nothing: requests written since then that were taken as counted wait again,
   * and all that wait are treated as written now.
   */
  restart(now: number, from: number): void
}

/**
 * A token comes back one window after the server can last have counted the request that used it (see `createBucket` for
 * why): after its answer, or after `takeAsCounted`. A request that ends before it is written gives its token back at
 * once; for one that ends later without an answer see `Unanswered`.
 *
 * @param observer told of each request that is written.
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
    // Any other request may be answered this very moment, and its token is back a window later.
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
  /** Requests that are not written. */
  held: number
  /**
   * Those written, without an answer, of which only that will tell: on new connections, or while there was no bound.
   */
  answerOnly: number
  readonly waiting: List<Request>
  /** Those taken as counted, without an answer. */
  readonly taken: List<Request>
  /** For each that was counted, the time by which it was; in order. */
  readonly counted: NumberQueue
  lastCounted: number
  readonly unanswered: Unanswered
}

function count(books: Books, at: number): void {
  books.lastCounted = Math.max(books.lastCounted, at)
  books.counted.push(books.lastCounted)
}

/** A class, as there is one for every request: three closures for each cost a tenth of the scheduler's whole time. */
class Request implements Permit {
  writtenAt = Number.NaN
  /** As `writtenAt`, or later after a restart. */
  since = Number.NaN
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
      observer.answered(now, now - this.writtenAt)
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

  /** Gives the state before the end. */
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
