/** What `@muster/redis` offers: several processes as one, by what they keep in Redis. */
export type { ClusterClient, RedisClient, SingleClient } from './connection/client.js'
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
  type Outcome,
} from './connection/errors.js'
export type { KeySpace } from './connection/keys.js'
export type { Reply, Script } from './connection/script.js'
export { createRedisGroupStore, type RedisGroupStoreOptions } from './groups/group-store.js'
export { LimitsUnavailable } from './limits/errors.js'
export { createRedisLimits, type RedisLimits, type RedisLimitsOptions } from './limits/limits.js'
export { createRedisLimitStore, type RedisLimitStoreOptions } from './attempts/limit-store.js'
export { createRedisLobbyStore, type RedisLobbyStore, type RedisLobbyStoreOptions } from './lobbies/lobby-store.js'
export { ClockDiffers, NoLeader, PartitionFull, PartitionUnavailable } from './partition/errors.js'
export type { QueuesInForce } from './partition/in-force.js'
export type { Partition, PartitionEvents, PartitionProblem } from './partition/partition.js'
export type { PartitionOptions } from './partition/partition-options.js'
export { createRedisPartition, type RedisPartitionOptions } from './partition/redis-partition.js'
export { Deposed } from './partition/store/deposed.js'
export { createRedisEventStore, type RedisEventStore, type RedisEventStoreOptions } from './stream/event-store.js'
export {
  createRedisSpending,
  type RedisSpending,
  type RedisSpendingOptions,
  type SpendingEvents,
  type SpendingProblem,
} from './spending/spending.js'
