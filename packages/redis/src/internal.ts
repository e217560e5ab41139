/** What the other packages of this repository use of @muster/redis. No promise: it changes without notice. */
export { readPartitionFormat } from './partition/redis-partition.js'
export { encodeHeader } from './partition/store/header.js'
export { createRedisStore } from './partition/store/redis-store.js'
export type { Commit, NewTicket, PartitionStore } from './partition/store/store.js'
