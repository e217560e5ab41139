import { InvalidInput } from '@muster/core'
import { systemClock, type Clock } from '@muster/core/clock'
import { createEventsWithProblems, type Events, type ListenerProblem } from '@muster/core/runtime'
import { validate } from '@muster/core/validation'
import type { SpendBudget } from '@muster/matchmaker'
import { z } from 'zod'
import type { RedisConnection } from '../connection/connection.js'
import { createPartitionBudget } from './partition-budget.js'
import { leaseScript, UNBOUNDED } from './script.js'

export interface RedisSpendingOptions {
  readonly redis: RedisConnection
  /** Names the budget: 1 to 64 letters, digits, `.`, `_` and `-`. Default `account`. */
  readonly name?: string | undefined
  /** Deployments that may exist at once, of all partitions together. Infinity, the default, for no limit. */
  readonly maxServers?: number | undefined
  /** Creates planned within any minute by all partitions together. Infinity, the default, for no limit. */
  readonly maxCreatesPerMinute?: number | undefined
  readonly clock?: Clock | undefined
}

/** An ask for a part of the budget failed; the next look at it asks again. Or a listener failed. */
export type SpendingProblem =
  | ListenerProblem
  | { readonly during: 'budget'; readonly partition: string; readonly error: unknown }

export interface SpendingEvents {
  problem: (problem: SpendingProblem) => void
}

/** Bounds of what several partitions spend together. */
export interface RedisSpending {
  readonly events: Events<SpendingEvents>['emitter']
  /**
   * The part of a partition, for the option `budget` of its matchmaker. All processes of the partition give its name.
   * @throws {InvalidInput}
   */
  budget(partition: string): SpendBudget
}

/**
 * Bounds servers and creates over several partitions of one Redis. Within a partition its one leader keeps the bounds
 * of the matchmaker's own options; this is for what all leaders together may spend. Each holds a little ahead, so that
 * it need not ask before every create: a hundredth of `maxServers`, up to 8.
 * @throws {InvalidInput} for a wrong option
 */
export function createRedisSpending(options: RedisSpendingOptions): RedisSpending {
  const { redis, name, maxServers, maxCreatesPerMinute, clock } = checked(options)
  const key = redis.keys(`spending.${name}`)
  const keys = [key('leases'), key('creates')]
  const smaller = Math.min(maxServers, maxCreatesPerMinute)
  const least = Math.max(1, Math.min(8, Math.floor(smaller / 100)))

  const { emitter: events, emit } = createEventsWithProblems<SpendingEvents>()

  return {
    events,
    budget: (partition) => {
      if (!NAME.test(partition)) throw new InvalidInput(`budget: partition ${WANTED}`, { field: 'partition' })
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

const NAME = /^[A-Za-z0-9._-]{1,64}$/
const WANTED = "must be 1 to 64 letters, digits, '.', '_' and '-'"

const countOrInfinity = z
  .custom<number>(
    (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 1),
    'must be a whole number from 1, or Infinity',
  )
  .default(Infinity)

const schema = z.strictObject({
  redis: z.custom<RedisConnection>(
    (value) => typeof (value as RedisConnection | undefined)?.run === 'function',
    'must be a connection made by connectRedis',
  ),
  name: z.string().regex(NAME, WANTED).default('account'),
  maxServers: countOrInfinity,
  maxCreatesPerMinute: countOrInfinity,
  clock: z
    .custom<Clock>((value) => typeof (value as Clock | undefined)?.sleep === 'function', 'must have now, sleep')
    .default(systemClock),
})

function checked(options: RedisSpendingOptions) {
  const result = validate(schema, options)
  if (result.success) return result.data
  const { field, message } = result.fault
  throw new InvalidInput(`createRedisSpending: option${field === undefined ? 's' : ` ${field}`} ${message}`, { field })
}
