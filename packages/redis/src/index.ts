/** What `@muster/redis` offers: several processes as one, by what they keep in Redis. */
export type { RedisClient } from './connection/client.js'
export { connectRedis, type RedisOptions } from './connection/connect.js'
export type { RedisConnection, RedisEvents, RedisProblem } from './connection/connection.js'
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
export type { PartitionOptions, QueuesInForce } from './partition/partition-options.js'
export type { Partition, PartitionEvents, PartitionProblem } from './partition/partition.js'
export { createRedisPartition, type RedisPartitionOptions } from './partition/redis-partition.js'
export { createRedisEventStore, type RedisEventStore } from './stream/event-store.js'
export {
  createRedisSpending,
  type RedisSpending,
  type SpendingEvents,
} from './spending/spending.js'
