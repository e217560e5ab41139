import { randomBytes } from 'node:crypto'
import { createBucket, InvalidInput, type Limiter } from '@muster/core'
import type { RateLimit } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { z } from 'zod'
import type { RedisConnection } from '../connection/connection.js'
import { checkOptions, clockSchema, connectionSchema, nameSchema } from '../connection/options.js'
import { createFallback } from './fallback.js'
import { createRedisTokens } from './redis-tokens.js'
import { createSharedLimiter, type SharedLimiter } from './shared-limiter.js'
import { limitTimes } from './times.js'

export interface RedisLimitsOptions {
  readonly redis: RedisConnection
  /**
   * Names the account whose limits they are: 1 to 64 letters, digits, `.`, `_` and `-`. Processes that use the same
   * name, prefix and Redis share the limits. Default `account`.
   */
  readonly name?: string | undefined
  /**
   * This process's share of each limit while Redis is away for longer than a few seconds: more than 0, and over all
   * processes no more than 1. It keeps the limits only if Redis is away for all of them. Default: none, so requests
   * wait until Redis is back or their time is up.
   */
  readonly fallbackShare?: number | undefined
  readonly clock?: Clock | undefined
}

/** The rate limits of one account, kept by all processes together. */
export interface RedisLimits {
  /** For the option `limiter` of `createClient`. Clients of one process may share it. */
  readonly limiter: (limit: RateLimit) => Limiter
  /** Ends the work for requests that had no answer. Close the clients first. */
  close(): Promise<void>
}

/**
 * Keeps the rate limits of the service over all processes that share a Redis: `createClient({ baseUrl, token, limiter:
 * limits.limiter })`. No process needs a `share`.
 * @throws {InvalidInput} for a wrong option
 */
export function createRedisLimits(options: RedisLimitsOptions): RedisLimits {
  const { redis, name, fallbackShare, clock } = checkOptions('createRedisLimits', schema, options)
  const limiters = new Map<string, SharedLimiter>()
  const newId = ids()

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
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidInput(`createRedisLimits: option fallbackShare, limit '${limit.name}': ${why}`, {
      field: 'fallbackShare',
      cause,
    })
  }
}

/** Ids of tokens, different in all processes. */
function ids(): () => string {
  const process = randomBytes(9).toString('base64url')
  let made = 0
  return () => {
    made += 1
    return `${process}.${made.toString(36)}`
  }
}

const schema = z.strictObject({
  redis: connectionSchema,
  name: nameSchema.default('account'),
  fallbackShare: z.number().positive().max(1).optional(),
  clock: clockSchema,
})
