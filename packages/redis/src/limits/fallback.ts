import type { Limiter } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/runtime'
import type { SharedLimiter } from './shared-limiter.js'
import type { LimitTimes } from './times.js'
import type { TokenStore } from './token-store.js'

/** Between two looks whether the store is back, and how long one waits for an answer. */
const LOOK_MS = 500
const LOOK_TIMEOUT_MS = 300
/** Until a process asks again that does not know whether the store is back. */
const AGAIN_MS = 50

/**
 * Keeps a fixed share of the limit while the store is away, so that work goes on slower instead of not at all. The
 * shares of all processes add up to the limit, so it is kept as long as the store is away for all of them. Where it is
 * away for some only, the others do not know that they have to leave them a share, and more may be sent.
 *
 * A share is used when no permit of the store is good any more, whoever has it. Whoever finds the store back has every
 * token taken as out, for as long as the others may need to find it too. A process that was idle meanwhile does not:
 * what it may take by mistake, it may not where the store takes all as out by itself, as it does when Redis was
 * restarted or another took over.
 */
export function createFallback(
  shared: SharedLimiter,
  local: Limiter,
  store: Pick<TokenStore, 'reset'>,
  clock: Clock,
  { coldMs, aheadMs, windowMs }: LimitTimes,
): SharedLimiter {
  let awaySince: number | undefined
  let isLocal = false
  let lookedAt = Number.NEGATIVE_INFINITY
  /** When the store was away for certain. Nobody has a permit of it for that long afterwards. */
  let knownAway = Number.NEGATIVE_INFINITY
  const safeMs = aheadMs + windowMs

  const look = async () => {
    const began = (lookedAt = clock.now())
    try {
      const done = await within(store.reset().then(() => true), LOOK_TIMEOUT_MS, clock)
      if (done === undefined) throw new Error('no answer')
      isLocal = false
      awaySince = undefined
    } catch {
      knownAway = began
    }
  }

  const reserveShared = async (now: number) => {
    const began = clock.now()
    if (awaySince !== undefined && began >= awaySince + coldMs / 2) {
      // Others may use their shares by now.
      await store.reset().catch(() => {})
    }
    const answer = await shared.reserve(now)
    if (typeof answer !== 'number' || shared.obstacle() === undefined) awaySince = undefined
    else {
      awaySince ??= began
      isLocal = clock.now() >= awaySince + coldMs
      knownAway = began
    }
    return answer
  }

  return {
    ...shared,
    reserve: async (now) => {
      if (!isLocal) return reserveShared(now)
      if (clock.now() >= lookedAt + LOOK_MS) void look()
      // One that stood still does not know what the others have done since.
      return clock.now() < knownAway + safeMs ? local.reserve(now) : clock.now() + AGAIN_MS
    },
    throttled: (now, until) => {
      shared.throttled(now, until)
      local.throttled(now, until)
    },
    inspect: (now) => (isLocal ? local : shared).inspect(now),
    obstacle: () => (isLocal ? undefined : shared.obstacle()),
    checkAt: (now) => local.checkAt?.(now),
    check: (now) => local.check?.(now),
  }
}
