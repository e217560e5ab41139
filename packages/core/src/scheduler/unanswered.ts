// pure: tokens of requests that ended without an answer

import { WIDE_MS } from './count-bound.js'
import { createNumberQueue } from './number-queue.js'

/**
 * Tokens of requests that were written and ended without an answer. Such a request may lie in a buffer, and be counted
 * when a server that stood still continues. The first answer to a request written later shows that the server
 * continues: requests that ended before that one was written are counted within 250 ms of the answer (our choice).
 * Until such an answer the tokens become free one at a time, after one window, two, then every four; the requests that
 * use them are probes. The times passed in never decrease from one call to the next.
 */
export interface Unanswered {
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
