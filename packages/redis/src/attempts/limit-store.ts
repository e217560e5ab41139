import { createHash } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import { createAttempts, type Attempts, type LimitStore } from '@muster/core/http'
import { z } from 'zod'
import type { RedisConnection } from '../connection/connection.js'
import { checkOptions, clockSchema, connectionSchema, nameSchema } from '../connection/options.js'
import { createBatches } from './batches.js'

export interface RedisLimitStoreOptions {
  readonly redis: RedisConnection
  /** Name of the store: processes that give the same count together. Default `main`. */
  readonly name?: string | undefined
  /**
   * Milliseconds that a request waits for Redis at most. From 1 to 10,000; default 100 (our choice). After that, and
   * while Redis is away, each process counts by itself.
   */
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock | undefined
}

/**
 * Counts the requests and attempts of players in Redis, for all processes that give the same name: give it as
 * `limitStore` to `createTicketApi`, `createLobbyApi` and `createLobbies`.
 *
 * Each process also counts for itself. Who is over a limit there is refused without a question to Redis, so that a
 * flood does not reach it; and while Redis is slow or away, that count alone decides: a player then has the limit once
 * per process, and the connection's event `problem` tells of it once. Redis holds a digest of each player's id or
 * address, for two windows of the limit at most.
 * @throws {InvalidInput} for a wrong option
 */
export function createRedisLimitStore(options: RedisLimitStoreOptions): LimitStore {
  const { redis, name, timeoutMs, clock } = checkOptions('createRedisLimitStore', schema, options)
  const space = redis.keys(`limits.${name}`)
  const batches = createBatches({ redis, timeoutMs, clock })

  return {
    attempts: (limitName, { limit, windowMs }): Attempts => {
      const local = createAttempts({ limit, windowMs, clock })
      const count = (key: string, deed: 't' | 'w' | 'c' | 'g') =>
        batches.count(space(`${limitName}:${digestOf(key)}`), deed, windowMs / limit, windowMs)

      return {
        take: (key) => {
          const waitMs = local.take(key)
          if (waitMs > 0) return waitMs
          return count(key, 't').then((ms = 0) => {
            // The local count learns what others have counted.
            if (ms > 0) local.giveBack(key)
            if (ms > 0) local.delay(key, ms)
            return ms
          })
        },
        wait: (key) => {
          const waitMs = local.wait(key)
          return waitMs > 0 ? waitMs : count(key, 'w').then((ms = 0) => ms)
        },
        charge: (key) => {
          local.charge(key)
          void count(key, 'c')
        },
        giveBack: (key) => {
          local.giveBack(key)
          void count(key, 'g')
        },
      }
    },
  }
}

/** Keys of bounded length, in which no id or address can be read. */
const digestOf = (key: string) => createHash('sha256').update(`${key}`).digest('base64url').slice(0, 22)

const schema = z.strictObject({
  redis: connectionSchema,
  name: nameSchema.default('main'),
  timeoutMs: z.number().min(1).max(10_000).default(100),
  clock: clockSchema,
})
