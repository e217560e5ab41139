import { randomBytes } from 'node:crypto'
import { InvalidInput, type Limiter } from '@muster/core'
import { createBucket, messageOf, within } from '@muster/core/internal'
import type { RateLimit } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { z } from 'zod'
import { checkOptions, clockSchema, connectionSchema, nameSchema, type RedisConnection } from '../connection/index.js'
import { createRedisTokens } from './redis-tokens.js'
import { createSharedLimiter, type SharedLimiter } from './shared-limiter.js'
import { type LimitTimes, limitTimes, type TokenStore } from './token-store.js'

/** Milliseconds between two checks whether the store is back, and the timeout of a check. */
const LOOK_MS = 500
const LOOK_TIMEOUT_MS = 300
/** Milliseconds between two attempts of a process that does not know whether the store is back. */
const AGAIN_MS = 50

/**
 * Uses a fixed share of the limit while the store is unavailable, so that work continues slower instead of stopping.
 * The shares of all processes add up to the limit, so the limit holds while the store is unavailable for all of them.
 * If it is unavailable for some processes only, the others still use the whole limit, and more may be sent.
 *
 * A process uses its share once no permit of the store is valid any more in any process. The process that finds the
 * store available again marks every token as used, until the others must have found it too. A process that was idle
 * meanwhile does not mark them. It could take a token too early, except after a restart or failover of Redis, when the
 * store itself marks all tokens as used.
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
  /** Time at which the store was last seen unavailable. The share may be used until `safeMs` after that. */
  let knownAway = Number.NEGATIVE_INFINITY
  const safeMs = aheadMs + windowMs

  const probeStore = async () => {
    const began = (lookedAt = clock.now())
    try {
      const done = store.reset().then(() => true)
      if ((await within(done, LOOK_TIMEOUT_MS, clock)) === undefined) throw new Error('Redis did not answer in time')
      isLocal = false
      awaySince = undefined
    } catch {
      knownAway = began
    }
  }

  const reserveShared = async (now: number) => {
    const began = clock.now()
    if (awaySince !== undefined && began >= awaySince + coldMs / 2) {
      // Mark all tokens as used, because other processes may be using their shares by now.
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
      if (clock.now() >= lookedAt + LOOK_MS) void probeStore()
      // A process that was stalled does not know whether other processes have reached the store since.
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

export interface RedisLimitsOptions {
  readonly redis: RedisConnection
  /**
   * Name of the account with the limits: 1 to 64 letters, digits, `.`, `_` and `-`. Processes with the same name,
   * prefix and Redis share the limits. Default `account`.
   */
  readonly name?: string | undefined
  /**
   * This process's share of each limit while Redis is unavailable for longer than a few seconds: more than 0, and in
   * total at most 1. The limits hold only if Redis is unavailable for all processes. Default: none. Then requests wait
   * until Redis is back or they time out.
   */
  readonly fallbackShare?: number | undefined
  readonly clock?: Clock | undefined
}

/** The rate limits of one account, shared by all processes. */
export interface RedisLimits {
  /**
   * Returns the limiter of a rate limit, for the option `limiter` of `createClient`. Clients of one process may share
   * it.
   */
  readonly limiter: (limit: RateLimit) => Limiter
  /** Ends the reports of requests without a response. Close the clients first. */
  close(): Promise<void>
}

/**
 * Enforces the rate limits of the service over all processes that share a Redis: `createClient({ baseUrl, token,
 * limiter: limits.limiter })`. No process needs a `share`.
 * @throws {InvalidInput} for an invalid option
 */
export function createRedisLimits(options: RedisLimitsOptions): RedisLimits {
  const { redis, name, fallbackShare, clock } = checkOptions('createRedisLimits', schema, options)
  const limiters = new Map<string, SharedLimiter>()
  // The prefix of ids is unique to this process.
  const idPrefix = randomBytes(9).toString('base64url')
  let made = 0
  const newId = () => `${idPrefix}.${(made += 1).toString(36)}`

  const create = (limit: RateLimit) => {
    const times = limitTimes(limit.windowMs)
    const tokens = createRedisTokens(redis, `limit.${name}.${limit.name}`, limit.limit, times)
    const shared = createSharedLimiter(limit, tokens, newId, clock)
    return fallbackShare === undefined
      ? shared
      : createFallback(shared, shareOf(limit, fallbackShare), tokens, clock, times)
  }

  return {
    limiter: (limit) => {
      const key = JSON.stringify(limit)
      const known = limiters.get(key) ?? create(limit)
      limiters.set(key, known)
      return known
    },
    close: async () => {
      await Promise.all(Array.from(limiters.values(), (limiter) => limiter.close()))
    },
  }
}

/** @throws {InvalidInput} if the share leaves less than one request. */
function shareOf(limit: RateLimit, share: number): Limiter {
  try {
    return createBucket({ limit: limit.limit, windowMs: limit.windowMs, share })
  } catch (cause) {
    const why = messageOf(cause)
    throw new InvalidInput(`createRedisLimits: option fallbackShare, limit '${limit.name}': ${why}`, {
      field: 'fallbackShare',
      cause,
    })
  }
}

const schema = z.strictObject({
  redis: connectionSchema,
  name: nameSchema.default('account'),
  fallbackShare: z.number().positive().max(1).optional(),
  clock: clockSchema,
})
