import type { Clock } from '@muster/core/clock'
import type { LimitTimes, TokenStore } from './token-store.js'

/** The tokens of one limit in memory, by the rules of `redis-tokens.ts`. Replaces Redis in simulations. */
export interface ModelTokens extends TokenStore {
  /** Loses everything, like a Redis that starts empty or does not trust its data. */
  wipe(): void
}

export function createModelTokens(limit: number, times: LimitTimes, clock: Clock): ModelTokens {
  const { windowMs, settleMs, aheadMs, holdMs, coldMs } = times
  let out: Map<string, number> | undefined
  let pausedUntil = 0
  let lowest: number | undefined
  let from = 0

  const cold = () =>
    (out = new Map(Array.from({ length: limit }, (_, n) => [`cold:${n}`, clock.now() + coldMs] as [string, number])))
  const move = (ids: readonly string[], back: number, choose: (...of: number[]) => number) => {
    for (const id of ids) {
      const at = out?.get(id)
      if (at !== undefined) out?.set(id, choose(at, back))
    }
  }
  const rateAt = (now: number) =>
    lowest === undefined
      ? limit
      : Math.max(1, Math.min(limit, Math.floor(lowest + (Math.max(0, now - from) / windowMs) * 0.05 * limit)))

  return {
    take: async (id) => {
      const now = clock.now()
      const rate = rateAt(now)
      const tokens = out ?? cold()
      for (const [token, at] of tokens) if (at <= now) tokens.delete(token)
      if (now < pausedUntil) return { granted: false, waitMs: pausedUntil - now, free: 0, rate }
      const free = Math.max(0, rate - tokens.size)
      if (free > 0) {
        tokens.set(id, now + holdMs)
        return { granted: true, waitMs: 0, free: free - 1, rate }
      }
      const next = [...tokens].toSorted(([, a], [, b]) => a - b)[tokens.size - rate] as [string, number]
      const [token, due] = next
      if (due > now + aheadMs) return { granted: false, waitMs: aheadMs, free: 0, rate }
      tokens.delete(token)
      tokens.set(id, due + holdMs)
      return { granted: true, waitMs: due - now, free: 0, rate }
    },
    counted: async (ids) => move(ids, clock.now() + windowMs, Math.min),
    keep: async (ids) => {
      for (const id of ids) out?.set(id, Math.max(out.get(id) ?? 0, clock.now() + holdMs))
    },
    settle: async (ids) => move(ids, clock.now() + settleMs + windowMs, (_, later) => later as number),
    unused: async (id, dueMs) => move([id], clock.now() + Math.max(0, dueMs), Math.min),
    refused: async (pauseMs) => {
      const now = clock.now()
      pausedUntil = Math.max(pausedUntil, now + pauseMs)
      if (now < from) {
        from = Math.max(from, pausedUntil)
        return
      }
      lowest = Math.max(1, 0.1 * limit, Math.floor(0.7 * rateAt(now)))
      from = Math.max(now + windowMs, pausedUntil)
    },
    reset: async () => void cold(),
    wipe: () => {
      out = undefined
    },
  }
}
