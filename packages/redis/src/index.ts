/** The exports of `@muster/redis`, by which several processes share state in Redis and work as one. */
export type { RedisClient } from './connection/client.js'
export { connectRedis, type RedisOptions } from './connection/connect.js'
export type { RedisConnection } from './connection/connection.js'
export {
  RedisBusy,
  RedisCrossSlot,
  RedisDisconnected,
  RedisError,
  RedisFull,
  RedisNotPermitted,
  RedisReadOnly,
  RedisTimedOut,
  RedisTooOld,
  RedisWrongType,
} from './connection/connection-errors.js'
export { createRedisGroupStore } from './groups/group-store.js'
export { LimitsUnavailable } from './limits/shared-limiter.js'
export { createRedisLimits, type RedisLimits } from './limits/limits.js'
export { createRedisLimitStore } from './attempts/limit-store.js'
export { createRedisLobbyStore, type RedisLobbyStore } from './lobbies/lobby-store.js'
export { ClockDiffers, LeaseLost, NoLeader, PartitionFull, PartitionUnavailable } from './partition/partition-errors.js'
export type { PartitionOptions } from './partition/partition-options.js'
export type { Partition } from './partition/partition.js'
export { createRedisPartition, type RedisPartitionOptions } from './partition/redis-partition.js'
export { createRedisEventStore, type RedisEventStore } from './stream/event-store.js'
export { createRedisSpending, type RedisSpending } from './spending/spending.js'
