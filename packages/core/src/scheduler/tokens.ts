// pure: a limiter of tokens, for whatever rate

import { type BoundChange, createCountBound, WIDE_MS } from './count-bound.js'
import { createLedger } from './ledger.js'
import type { Limiter } from './limiter.js'
import type { Pace } from './pace.js'
import type { Rate } from './rate.js'

export interface TokenOptions {
  readonly rate: Rate
  readonly windowMs: number
  readonly jitterMs: number
  readonly pace?: Pace | undefined
  readonly boundChanged?: ((boundMs: number, why: BoundChange) => void) | undefined
}

/** A check that is late by more tells of a busy event loop. Timers of an idle one are late by a millisecond or two. */
const LATE_MS = 20

/** Gives out as many tokens in each window as the rate allows. Why no server then counts more: see `createBucket`. */
export function createTokens({ rate, windowMs, jitterMs, pace, boundChanged }: TokenOptions): Required<Limiter> {
  const bound = createCountBound(jitterMs, boundChanged)
  const ledger = createLedger(bound)
  let checkDue = Number.NaN

  /** What the rate of the moment allows. Below one start per window, the window is stretched. */
  const allowed = (now: number) => {
    const perWindow = rate.at(now)
    return perWindow < 1
      ? { perWindow, most: 1, window: windowMs / perWindow }
      : { perWindow, most: Math.floor(perWindow), window: windowMs }
  }

  /**
   * Whether everything seems to stand still. What was taken as counted shortly before may then be counted at the end of
   * that.
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
      // Nobody watched the event loop while the bound was not in use.
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
        // What the event loop was kept from until now, it does after this: a server in this process counts then.
        ledger.takeAsCounted(now, bound.at(now), now + lateMs)
      }
    },
  }
}
