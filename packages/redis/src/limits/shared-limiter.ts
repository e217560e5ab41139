import type { Limiter, Permit } from '@muster/core'
import type { RateLimit } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { backoffMs } from '@muster/core/runtime'
import { LimitsUnavailable } from './errors.js'
import { createReports } from './reports.js'
import { SharedPermit } from './shared-permit.js'
import { limitTimes, type LimitTimes } from './times.js'
import type { TokenStore } from './token-store.js'

export interface SharedLimiter extends Limiter {
  reserve(now: number): Promise<Permit | number>
  obstacle(): LimitsUnavailable | undefined
  close(): Promise<void>
}

/** Between two asks while the store fails. It tells a store that is back from one that is away, so it is short. */
const AGAIN = { baseMs: 50, capMs: 500, jitter: 0 }

/**
 * Starts requests so that the service never counts more than the limit from all processes that use the store. Each
 * start takes a token from the store; where none is free, the one that comes back next is promised to whoever asks, who
 * waits here until then. So there is one round trip per start, and as each process asks for one at a time, all that
 * have work get equal parts, and one that has none takes nothing.
 *
 * Why no more are counted than the limit: between two takings of a token, its first request was counted, and a window
 * has passed since. That is so because a request
 *
 * - is written only after its permit was good, and before it expired: both by durations of this process's monotonic
 *   clock, the first from the store's answer on, the second from the question on. Who wakes late writes nothing.
 * - is answered before its token is given back for a window's time, or keeps its token out;
 * - of a process that died or stands still was written before its permit expired, and is assumed to be counted within
 *   `settleMs` of that. This is the only assumption, and only for requests that were under way at that moment.
 */
export function createSharedLimiter(
  { name, windowMs }: RateLimit,
  store: TokenStore,
  newId: () => string,
  clock: Clock,
  times: LimitTimes = limitTimes(windowMs),
): SharedLimiter {
  const reports = createReports(store, clock, times)
  let failures = 0
  let failure: unknown
  /** When the ask began that has no answer yet. */
  let askedAt: number | undefined
  let last = { tokens: 0, rate: 0 }

  const take = async (id: string, now: number) => {
    askedAt ??= now
    try {
      const { free, rate, ...taken } = await store.take(id)
      last = { tokens: free, rate }
      failures = 0
      return taken
    } catch (error) {
      failures += 1
      failure = error
      return undefined
    } finally {
      askedAt = undefined
    }
  }

  return {
    reserve: async () => {
      const asked = clock.now()
      const id = newId()
      const taken = await take(id, asked)
      if (taken === undefined) return clock.now() + backoffMs(failures, 0, AGAIN)
      const due = clock.now() + taken.waitMs
      if (!taken.granted) return due
      // The store gave it after it was asked, so for the store it expires later.
      const goodAt = asked + taken.waitMs
      const permit = new SharedPermit(id, due, goodAt + times.permitMs, goodAt + times.holdMs, clock, reports)
      if (taken.waitMs > 0) await clock.sleep(taken.waitMs)
      if (permit.mayWrite()) return permit
      permit.release()
      return clock.now()
    },
    throttled: (now, until) => void store.refused(Math.max(0, until - now)).catch(() => {}),
    inspect: () => last,
    obstacle: () => {
      if (failures > 0) return new LimitsUnavailable(name, messageOf(failure), failure)
      const silentMs = askedAt === undefined ? 0 : clock.now() - askedAt
      if (silentMs < times.permitMs) return undefined
      return new LimitsUnavailable(name, `Redis has not answered for ${Math.round(silentMs)} ms`)
    },
    close: reports.close,
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
