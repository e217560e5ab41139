// pure: tokens of requests that ended without an answer

import { WIDE_MS } from './count-bound.js'
import { createNumberQueue } from './number-queue.js'

/**
 * A request that was written and ended without an answer may lie in a buffer, and be counted when a server that stood
 * still goes on. The first answer to a request that was written after that end tells that it has gone on; what ended
 * before is counted within 250 ms of it (our choice). Until there is such an answer the tokens come back one at a time,
 * after one window, two, then every four: their requests are probes. Times never go back from one call to the next.
 */
export interface Unanswered {
  /** A request that was written has ended. */
  add(now: number): void
  /** An answer came at `now` to a request that was written at `writtenAt`. */
  answered(now: number, writtenAt: number): void
  /** Tokens that are out. */
  out(now: number, windowMs: number): number
  /** When the next token comes back if nothing is answered until then; Infinity if none is out. */
  nextBack(windowMs: number): number
}

const LONGEST_GAP = 4

export function createUnanswered(): Unanswered {
  /** When each of them ended, in order. */
  const ended = createNumberQueue()
  /** For those that ended before a request that was answered, when they are counted at the latest; in order. */
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
