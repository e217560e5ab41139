import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { z } from 'zod'
import { checkOptions, connectionSchema, type RedisConnection } from '../connection/index.js'
import { findAbandonedPartitions } from './abandoned-partitions.js'
import { createPartition, type Partition } from './partition.js'
import type { PartitionOptions } from './partition-options.js'
import { createRedisStore, DEFAULT_BOUNDS, FORMAT, keyOfPartition, partitionKeys } from './store/index.js'

/**
 * Options of a process of a partition: those of a matchmaker, except `store`, which Redis replaces, and a few of its
 * own. All processes of a partition have the same `name`, which is also that of their matchmaker: servers have the tag
 * `mm-<name>`.
 */
export interface RedisPartitionOptions extends PartitionOptions {
  /** A connection from `connectRedis`. The partition opens two more for following changes. */
  readonly redis: RedisConnection
  /** Maximum number of tickets, including ended ones that are still kept; more are refused. Default 1,000,000. */
  readonly maxTickets?: number | undefined
  /**
   * Before a server is created or players are sent to one, wait until `atLeast` replicas of Redis have the write. If
   * they do not confirm it within `timeoutMs`, a `problem` is reported, the wait is repeated, and nobody gets a server.
   * Redis guarantees nothing even then, but a failover rarely loses anything. Default: no waiting.
   */
  readonly replicas?: { readonly atLeast: number; readonly timeoutMs: number } | undefined
}

/**
 * Joins a partition: any number of processes on one Redis accept tickets, and one of them, the leader, matches. If it
 * ends, another one leads within about a second. Pass the result to `createTicketApi`.
 *
 * Redis then holds all tickets, with players' addresses and attributes; protect it accordingly.
 * @throws {InvalidInput} naming the option and the value
 * @example
 * const redis = await connectRedis({ client: { url: 'redis://127.0.0.1:6379' } })
 * const partition = createRedisPartition({ redis, name: 'eu', queues, deployments: client.deployments })
 * partition.start()
 * const api = createTicketApi(partition, { authenticate })
 */
export function createRedisPartition(options: RedisPartitionOptions): Partition {
  const ours = checkOptions('createRedisPartition', schema, options)
  const { redis, maxTickets, replicas, ...rest } = { ...options, maxTickets: ours.maxTickets }
  return createPartition(rest, {
    openStore: () => createRedisStore({ redis, name: keyOfPartition(rest.name), bounds: { maxTickets }, replicas }),
    owner: randomUUID(),
    title: `${hostname()} (process ${process.pid})`,
    newId: randomUUID,
    isDurable: replicas !== undefined,
    findAbandoned: () => findAbandonedPartitions(redis, rest.name),
  })
}

/**
 * Returns the format of a partition's records, and the format that the next leader writes; undefined if the partition
 * never had a leader.
 * @throws {PartitionNewer}
 */
export async function readPartitionFormat(
  redis: RedisConnection,
  name: string,
): Promise<{ readonly format: number; readonly latest: number } | undefined> {
  const inForce = await createRedisStore({ redis, name: keyOfPartition(name) }).getInForce()
  if (inForce === undefined) return undefined
  const key = partitionKeys(redis.keys(keyOfPartition(name))).inForce
  return { format: Number((await redis.command(key, ['HGET', key, 'format'])) ?? 1), latest: FORMAT }
}

/** Validates our own options. The matchmaker validates its options itself. */
const schema = z.looseObject({
  redis: connectionSchema,
  name: z.string().regex(/^[\w-]{1,32}$/, 'must be 1 to 32 of A–Z, a–z, 0–9, _ and -'),
  canLead: z.boolean().optional(),
  standby: z.boolean().optional(),
  leaseMs: z.number().min(300).max(60_000).optional(),
  askTimeoutMs: z.number().min(100).max(600_000).optional(),
  maxTickets: z.int().min(1).max(100_000_000).default(DEFAULT_BOUNDS.maxTickets),
  replicas: z.strictObject({ atLeast: z.int().min(1).max(100), timeoutMs: z.number().min(1).max(10_000) }).optional(),
  store: z.undefined('must not be given: tickets and servers are in Redis').optional(),
})
