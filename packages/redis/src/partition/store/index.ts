/** What `@muster/redis/partition-store` offers, to this repository alone: a partition's store, to be measured. */
export { encodeHeader } from './header.js'
export { createRedisStore } from './redis-store.js'
export type { Commit, NewTicket, PartitionStore } from './store.js'
