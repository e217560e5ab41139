/** Exports for the other packages of this repository. They may change without notice. */
export { assertPartitionWritable } from './partition/check-partition.js'
export { readPartitionFormat } from './partition/redis-partition.js'
export { encodeHeader } from './partition/store/header.js'
export { createRedisStore } from './partition/store/redis-store.js'
export type { Commit, NewTicket, PartitionStore } from './partition/store/store.js'
