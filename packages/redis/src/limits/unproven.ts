// pure: requests that were written and of which nobody knows yet whether the service has counted them

import type { LimitTimes } from './times.js'

/** A request that was written. */
export interface Written {
  readonly id: string
  readonly writtenAt: number
  /** Its token is out until then at least. */
  keptUntil: number
}

/**
 * Says whose tokens must be kept out for longer. A request counts at its answer, as nothing else proves it. One that
 * ended without an answer may lie in a buffer until the network or the service goes on: that is over when a request
 * written later is answered. Until then tokens come back one at a time, after a window, two, then every four, and the
 * requests that use them find out (`Unanswered` in core's scheduler is the same for one process).
 */
export interface Unproven {
  /** Number of requests. */
  size(): number
  written(request: Written): void
  /** The request was answered. Returns the ids of those without an answer that the service has, or never will have. */
  answered(request: Written): readonly string[]
  /** The request ended without an answer. */
  lost(request: Written, now: number): void
  /** The requests whose tokens could soon be promised to others. */
  due(now: number): readonly Written[]
}

const LONGEST_GAP = 4
/** Milliseconds before a token could be promised to somebody else at which it is kept for longer. */
const MARGIN_MS = 750

export function createUnproven({ windowMs, settleMs, aheadMs }: LimitTimes): Unproven {
  const open = new Set<Written>()
  /** Those without an answer, by their ends. */
  let lost: { readonly request: Written; readonly endedAt: number }[] = []
  let lastProbe = Number.NEGATIVE_INFINITY
  let gap = 1

  const letProbesGo = (now: number) => {
    for (let first = lost[0]; first !== undefined; first = lost[0]) {
      if (now < Math.max(first.endedAt + settleMs + windowMs, lastProbe + gap * windowMs)) return
      lost.shift()
      lastProbe = now
      gap = Math.min(LONGEST_GAP, gap * 2)
    }
  }

  return {
    size: () => open.size + lost.length,
    written: (request) => void open.add(request),
    answered: (request) => {
      open.delete(request)
      gap = 1
      if (lost.length === 0) return []
      const proven = lost.filter(({ endedAt }) => endedAt <= request.writtenAt)
      lost = lost.filter(({ endedAt }) => endedAt > request.writtenAt)
      return proven.map(({ request: { id } }) => id)
    },
    lost: (request, now) => {
      if (open.delete(request)) lost.push({ request, endedAt: now })
    },
    due: (now) => {
      letProbesGo(now)
      return [...open, ...lost.map(({ request }) => request)].filter(
        ({ keptUntil }) => keptUntil < now + aheadMs + MARGIN_MS,
      )
    },
  }
}
