// pure: a token limiter for any rate

import { type BoundChange, createCountBound, WIDE_MS } from './count-bound.js'
import { createLedger } from './ledger.js'
import type { LocalLimiter } from './limiter.js'
import type { Pace } from './pace.js'
import type { Rate } from './rate.js'

export interface TokenOptions {
  readonly rate: Rate
  readonly windowMs: number
  readonly jitterMs: number
  readonly pace?: Pace | undefined
  readonly boundChanged?: ((boundMs: number, why: BoundChange) => void) | undefined
}

/** A check later than this shows a busy event loop. On an idle loop, timers are late by a millisecond or two. */
const LATE_MS = 20

/**
 * Gives out as many tokens in each window as the rate allows. `createBucket` explains why no server then counts more.
 */
export function createTokens({ rate, windowMs, jitterMs, pace, boundChanged }: TokenOptions): LocalLimiter {
  const bound = createCountBound(jitterMs, boundChanged)
  const ledger = createLedger(bound)
  let checkDue = Number.NaN

  /** Starts and window that the present rate allows. Below one start per window, the window is stretched. */
  const allowed = (now: number) => {
    const perWindow = rate.at(now)
    return perWindow < 1
      ? { perWindow, most: 1, window: windowMs / perWindow }
      : { perWindow, most: Math.floor(perWindow), window: windowMs }
  }

  /**
   * Whether no answers arrive, so that the server seems to stand still. Requests taken as counted shortly before may
   * then be counted only when the server continues.
   */
  const standsStill = (now: number): boolean => {
    const since = bound.silentSince(now)
    if (since !== undefined) ledger.restart(now, since - WIDE_MS)
    return since !== undefined
  }

  return {
    reserve: (now) => {
      if (bound.at(now) !== Number.POSITIVE_INFINITY) standsStill(now)
      const { perWindow, most, window } = allowed(now)
      const out = ledger.out(now, window)
      if (out >= most) return Math.min(ledger.nextBack(now, window), now + windowMs)
      const due = pace?.take(now, perWindow / windowMs)
      if (due !== undefined) return due
      rate.taken?.(now, most - out - 1)
      return ledger.take(pace?.giveBack)
    },
    throttled: (now, until) => {
      rate.lower(now, until)
      bound.refused(now)
    },
    inspect: (now) => {
      const { perWindow, most, window } = allowed(now)
      const free = Math.max(0, most - ledger.out(now, window))
      return {
        tokens: Math.min(free, pace?.free(now, perWindow / windowMs) ?? free),
        rate: perWindow,
        countedWithinMs: bound.at(now),
      }
    },
    checkAt: (now) => {
      const boundMs = bound.at(now)
      const since = ledger.waitingSince()
      if (since === undefined || boundMs === Number.POSITIVE_INFINITY) return undefined
      // While the bound was not in use, nothing watched the event loop.
      if (since + boundMs < now) ledger.restart(now, now)
      checkDue = Math.max(since, now - boundMs) + boundMs
      return checkDue
    },
    check: (now) => {
      const lateMs = now - checkDue
      if (lateMs > LATE_MS) {
        bound.late(now)
        ledger.restart(now, checkDue - WIDE_MS)
      } else if (!standsStill(now)) {
        // A server in this process was blocked with the event loop, and counts requests only now.
        ledger.takeAsCounted(now, bound.at(now), now + lateMs)
      }
    },
  }
}
