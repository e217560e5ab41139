import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { createEventsWithProblems, type Events, type ListenerProblem } from '@muster/core/runtime'
import { validate } from '@muster/core/validation'
import type { SpendBudget } from '@muster/matchmaker'
import { z } from 'zod'
import type { RedisConnection } from '../connection/connection.js'
import { checkOptions, clockSchema, connectionSchema, nameSchema } from '../connection/options.js'
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
