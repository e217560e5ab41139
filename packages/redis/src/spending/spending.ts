import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { createEventsWithProblems, type Events, type ListenerProblem, validate } from '@muster/core/internal'
import type { SpendBudget } from '@muster/matchmaker'
import { z } from 'zod'
import {
  checkOptions,
  clockSchema,
  connectionSchema,
  nameSchema,
  type RedisConnection,
  defineScript,
} from '../connection/index.js'

export interface SpendingRequest {
  readonly version: string
  readonly isNew: boolean
  /** Number of servers that exist or may exist, and of further ones to request ahead. */
  readonly servers: { readonly count: number; readonly ahead: number }
  /** Number of creates planned since the last request, and of further ones to request ahead. */
  readonly creates: { readonly planned: number; readonly ahead: number }
}

/**
 * Minimum milliseconds between two requests. A matchmaker reads its budget at every tick, and each read may send one.
 */
const GAP_MS = 100

/**
 * Creates a partition's part of a budget. It requests ahead twice its use since the last request, and gives the rest
 * back. While a request has no reply, it uses at most what both the old and the new lease allow.
 *
 * @param least the minimum amount requested ahead.
 */
export function createPartitionBudget(
  ask: (what: SpendingRequest) => Promise<SpendingLease>,
  least: number,
  clock: Clock,
  failed: (error: unknown) => void,
): SpendBudget {
  let version = ''
  let isNew = true
  let cap = 0
  let createsLeft = 0
  /** Number of creates that were planned and not reported yet. */
  let planned = 0
  let used = 0
  let isAsking = false
  let askedAt = Number.NEGATIVE_INFINITY

  const renew = async (count: number) => {
    askedAt = clock.now()
    const ahead = Math.max(least, 2 * used)
    const sent = planned
    used = 0
    cap = Math.min(cap, count + ahead)
    createsLeft = Math.min(createsLeft, ahead)
    const lease = await ask({ version, isNew, servers: { count, ahead }, creates: { planned: sent, ahead } })
    version = lease.version
    if (lease.granted === undefined) {
      // Another process leads this partition, or has led it until now.
      isNew = true
      cap = 0
      createsLeft = 0
      planned = 0
      return
    }
    isNew = false
    planned -= sent
    cap = lease.granted.servers
    createsLeft = lease.granted.creates - planned
  }

  return {
    servers: (count) => {
      if (!isAsking && clock.now() >= askedAt + GAP_MS) {
        isAsking = true
        renew(count)
          .catch(failed)
          .finally(() => {
            isAsking = false
          })
      }
      return Math.max(0, cap - count)
    },
    creates: () => createsLeft,
    planned: () => {
      planned += 1
      used += 1
      createsLeft -= 1
    },
  }
}

/** Stands for no limit, because no account has as many. Nothing is counted for it. */
const UNBOUNDED = 1e12

/** The part of the spending limits that a partition may use now. */
export interface SpendingLease {
  /** Version of the partition's lease, to send with the next request. */
  readonly version: string
  /**
   * Undefined if the lease has another version than the caller knows: another process has sent a request for the same
   * partition.
   */
  readonly granted: { readonly servers: number; readonly creates: number } | undefined
}

/**
 * Grants a partition a number of servers and of creates. It gets its existing servers in any case. It gets further
 * servers, and creates, as far as the other partitions leave any.
 * Keys: a hash with a field `p:<partition>`, which holds the time of the grant and the granted servers and creates; a
 * sorted set of the creates of the last minute.
 * Arguments: partition, known version, whether the caller is new; existing servers, further servers wanted, maximum
 * number of servers; creates planned since its last request, creates wanted, maximum creates per minute.
 *
 * A new leader does not know which of its predecessor's granted creates were planned, so all count. For 5 s after a
 * restart of Redis, no partition gets more than it has, because not all partitions may have sent a request again.
 */
const leaseScript = defineScript<SpendingLease>({
  name: 'spending.lease',
  kind: 'write-if-full',
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function text(number) return string.format('%.0f', number) end
local me = 'p:' .. ARGV[1]
local known, isNew, count = ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
local ahead, most = tonumber(ARGV[5]), tonumber(ARGV[6])
local planned, wanted, mostCreates = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local day, minute, quietFor, unbounded = 86400000000, 60000000, 5000000, ${UNBOUNDED}

local mine, servers, creates, stale = '', 0, 0, {}
local fields = redis.call('HGETALL', KEYS[1])
redis.call('ZCARD', KEYS[2])
for n = 1, #fields, 2 do
  local at, cap, left = string.match(fields[n + 1], '^(%d+) (%d+) (%d+)$')
  if fields[n] == me then
    mine = at
    if isNew then planned = planned + tonumber(left) end
  elseif at and tonumber(at) < now - day then
    stale[#stale + 1] = fields[n]
  elseif at then
    servers = servers + tonumber(cap)
    creates = creates + tonumber(left)
  end
end
if mine ~= known then return {mine, -1, 0} end

local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('HGET', KEYS[1], 'run') ~= run then
  redis.call('HSET', KEYS[1], 'run', run, 'quiet', text(now + quietFor))
end
-- Later times than this script writes show that Redis' clock was set back. They count as of now.
if tonumber(redis.call('HGET', KEYS[1], 'quiet')) > now + quietFor then
  redis.call('HSET', KEYS[1], 'quiet', text(now + quietFor))
end
for _, create in ipairs(redis.call('ZRANGE', KEYS[2], '(' .. text(now), '+inf', 'BYSCORE')) do
  redis.call('ZADD', KEYS[2], text(now), create)
end
local quiet = now < tonumber(redis.call('HGET', KEYS[1], 'quiet'))
for _, field in ipairs(stale) do redis.call('HDEL', KEYS[1], field) end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', text(now - minute))
if mostCreates >= unbounded then planned = 0 end
for n = 1, planned do redis.call('ZADD', KEYS[2], text(now), text(now) .. '.' .. n .. me) end
local left = mostCreates - redis.call('ZCARD', KEYS[2]) - creates
if quiet then ahead, wanted = 0, 0 end
local cap = math.max(count, math.min(count + ahead, most - servers))
local grant = math.max(0, math.min(wanted, left))
redis.call('HSET', KEYS[1], me, text(now) .. ' ' .. text(cap) .. ' ' .. text(grant))
redis.call('PEXPIRE', KEYS[1], day / 1000)
redis.call('PEXPIRE', KEYS[2], minute / 1000)
return {text(now), cap, grant}`,
  read: (reply) => {
    const [version, servers, creates] = reply as readonly [string, number, number]
    return { version, granted: servers < 0 ? undefined : { servers, creates } }
  },
})

export interface RedisSpendingOptions {
  readonly redis: RedisConnection
  /** Name of the budget: 1 to 64 letters, digits, `.`, `_` and `-`. Default `account`. */
  readonly name?: string | undefined
  /** Maximum number of deployments at a time, of all partitions together. Infinity, the default, for no limit. */
  readonly maxServers?: number | undefined
  /**
   * Maximum number of creates planned within any minute by all partitions together. Infinity, the default, for no
   * limit.
   */
  readonly maxCreatesPerMinute?: number | undefined
  readonly clock?: Clock | undefined
}

/** A request for a part of the budget failed and the next read retries it; or a listener failed. */
export type SpendingProblem =
  | ListenerProblem
  | { readonly during: 'budget'; readonly partition: string; readonly error: unknown }

export interface SpendingEvents {
  problem: (problem: SpendingProblem) => void
}

/** Limits of what several partitions spend together. */
export interface RedisSpending {
  readonly events: Events<SpendingEvents>['emitter']
  /**
   * Returns the part of a partition, for the option `budget` of its matchmaker. All processes of the partition use the
   * same name.
   * @throws {InvalidInput}
   */
  budget(partition: string): SpendBudget
}

/**
 * Limits servers and creates over several partitions of one Redis. Within a partition, its leader enforces the limits
 * of the matchmaker's own options. The budget limits what all leaders spend together. Each leader reserves a little
 * ahead, so that it need not send a request before every create: a hundredth of `maxServers`, up to 8.
 * @throws {InvalidInput} for an invalid option
 */
export function createRedisSpending(options: RedisSpendingOptions): RedisSpending {
  const { redis, name, maxServers, maxCreatesPerMinute, clock } = checkOptions('createRedisSpending', schema, options)
  const key = redis.keys(`spending.${name}`)
  const keys = [key('leases'), key('creates')]
  const smaller = Math.min(maxServers, maxCreatesPerMinute)
  const least = Math.max(1, Math.min(8, Math.floor(smaller / 100)))

  const { emitter: events, emit } = createEventsWithProblems<SpendingEvents>()

  return {
    events,
    budget: (partition) => {
      const { fault } = validate(nameSchema, partition)
      if (fault !== undefined) throw new InvalidInput(`budget: partition ${fault.message}`, { field: 'partition' })
      const ask: Parameters<typeof createPartitionBudget>[0] = ({ version, isNew, servers, creates }) =>
        redis.run(leaseScript, keys, [
          partition,
          version,
          isNew ? 1 : 0,
          servers.count,
          servers.ahead,
          Math.min(maxServers, UNBOUNDED),
          creates.planned,
          creates.ahead,
          Math.min(maxCreatesPerMinute, UNBOUNDED),
        ])
      const failed = (error: unknown) => emit('problem', { during: 'budget', partition, error })
      return createPartitionBudget(ask, least, clock, failed)
    },
  }
}

const countOrInfinity = z
  .custom<number>(
    (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 1),
    'must be a whole number from 1, or Infinity',
  )
  .default(Infinity)

const schema = z.strictObject({
  redis: connectionSchema,
  name: nameSchema.default('account'),
  maxServers: countOrInfinity,
  maxCreatesPerMinute: countOrInfinity,
  clock: clockSchema,
})
