import { createHash } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import { createMemoryLimitStore, type LimitStore } from '@muster/core/http'
import { type Attempts, within } from '@muster/core/internal'
import { z } from 'zod'
import {
  RedisTimedOut,
  checkOptions,
  createBatcher,
  clockSchema,
  connectionSchema,
  nameSchema,
  type RedisConnection,
  defineScript,
} from '../connection/index.js'

/**
 * Operations on a count. `t`: take an attempt if one is allowed. `w`: only return the time to wait. `c`: count an
 * attempt that was made. `g`: give an attempt back.
 */
type Deed = 't' | 'w' | 'c' | 'g'

/**
 * Counts attempts by one number per key, like `createAttempts` of `@muster/core/http` ('generic cell rate algorithm').
 * The number is the time, by Redis' clock, at which all attempts of the key have faded. The key expires then, at most
 * two windows from now. Keys: one per operation. Arguments: for each key the operation, milliseconds between two
 * attempts, milliseconds of the window. Reply: for each key the milliseconds to wait, rounded up; 0 if an attempt was
 * or would be allowed.
 */
const COUNT = defineScript({
  name: 'attempts.count',
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local waits = {}
for i, key in ipairs(KEYS) do
  local deed, interval, window = ARGV[3 * i - 2], tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local stored = tonumber(redis.call('GET', key) or now)
  -- A clock that was put back must not make anybody wait for longer.
  local clear = math.min(math.max(now, stored), now + 2 * window)
  local wait = clear + interval - now - window
  local to
  if deed == 't' and wait <= 0.01 then to = clear + interval end
  if deed == 'c' then to = math.min(clear + interval, now + 2 * window) end
  if deed == 'g' then to = clear - interval end
  if to and to > now then
    redis.call('SET', key, string.format('%.3f', to), 'PX', math.ceil(to - now))
  elseif to then
    redis.call('DEL', key)
  end
  waits[i] = (deed == 't' or deed == 'w') and wait > 0.01 and math.ceil(wait) or 0
end
return waits
`,
  read: (reply) => reply as readonly number[],
})

interface AttemptQuery {
  readonly key: string
  readonly words: readonly [deed: Deed, intervalMs: number, windowMs: number]
}

/** After a failure, only one call retries within this many milliseconds. */
const PAUSE_MS = 1000

/**
 * Counts in Redis: resolves with the milliseconds to wait; undefined if Redis did not count. Never rejects.
 * @param timeoutMs milliseconds until a batch without a reply counts as failed.
 */
function createCount(redis: RedisConnection, timeoutMs: number, clock: Clock) {
  let isFailing = false
  let nextTry = 0

  const counted = createBatcher(async (batch: readonly AttemptQuery[]): Promise<readonly (number | undefined)[]> => {
    try {
      const answer = redis.run(
        COUNT,
        batch.map(({ key }) => key),
        batch.flatMap(({ words }) => words),
      )
      answer.catch(() => {}) // The reply may come after every caller has stopped waiting.
      const waits = await within(answer, timeoutMs, clock)
      if (waits === undefined) throw tooSlow(timeoutMs)
      isFailing = false
      return waits
    } catch (error) {
      if (!isFailing) redis.report({ during: 'limits', error })
      isFailing = true
      nextTry = clock.now() + PAUSE_MS
      return batch.map(() => undefined)
    }
  })
  return async (key: string, ...words: AttemptQuery['words']): Promise<number | undefined> => {
    if (isFailing) {
      if (clock.now() < nextTry) return undefined
      nextTry = clock.now() + PAUSE_MS
    }
    return (await counted([{ key, words }]))[0]
  }
}

const tooSlow = (ms: number) =>
  new RedisTimedOut(`${COUNT.name}: Redis did not answer within ${ms} ms; each process counts by itself meanwhile`, {
    code: 'TIMEOUT',
    outcome: 'unknown',
  })

export interface RedisLimitStoreOptions {
  readonly redis: RedisConnection
  /** Name of the store: processes with the same name count together. Default `main`. */
  readonly name?: string | undefined
  /**
   * Maximum milliseconds that a request waits for Redis. From 1 to 10,000; default 100 (our choice). After that, and
   * while Redis is unavailable, each process counts alone.
   */
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock | undefined
}

/**
 * Counts the requests and attempts of players in Redis, for all processes with the same name. Pass it as `limitStore`
 * to `createTicketApi`, `createLobbyApi` and `createLobbies`.
 *
 * Each process also counts alone. A player over the limit of one process is refused without a query, so that a flood
 * does not reach Redis. While Redis is slow or unavailable, only the processes count, so a player has the limit once
 * per process. The connection's event `problem` reports this once. Redis holds a digest of each player's id or address,
 * for at most two windows of the limit.
 * @throws {InvalidInput} for an invalid option
 */
export function createRedisLimitStore(options: RedisLimitStoreOptions): LimitStore {
  const { redis, name, timeoutMs, clock } = checkOptions('createRedisLimitStore', schema, options)
  const space = redis.keys(`limits.${name}`)
  const countIn = createCount(redis, timeoutMs, clock)
  const locals = createMemoryLimitStore(clock)

  return {
    attempts: (limitName, { limit, windowMs }): Attempts => {
      const local = locals.attempts(limitName, { limit, windowMs })
      const count = (key: string, deed: Deed) =>
        countIn(space(`${limitName}:${digestOf(key)}`), deed, windowMs / limit, windowMs)

      return {
        take: (key) => {
          const waitMs = local.take(key)
          if (waitMs > 0) return waitMs
          return count(key, 't').then((ms = 0) => {
            // Refused because of other processes' attempts: correct the local count, which then refuses without a
            // query.
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

/** Returns a key of limited length that does not reveal the id or address. */
const digestOf = (key: string) => createHash('sha256').update(`${key}`).digest('base64url').slice(0, 22)

const schema = z.strictObject({
  redis: connectionSchema,
  name: nameSchema.default('main'),
  timeoutMs: z.number().min(1).max(10_000).default(100),
  clock: clockSchema,
})
