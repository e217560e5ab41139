/** The data of a partition in Redis, and the scripts that change it. */
export { DEFAULT_BOUNDS } from './commit-script.js'
export { decodeHeader, encodeHeader, readPrefix, readStored } from './header.js'
export { FORMAT, keyOfPartition, partitionKeys } from './partition-keys.js'
export { createRedisStore } from './redis-store.js'
export type {
  ScanPage,
  Changes,
  Commit,
  CommitOutcome,
  TicketCreateOutcome,
  FollowerReply,
  InboxEntry,
  NewHeader,
  NewTicket,
  PartitionRecord,
  PartitionStore,
  PlayerTickets,
  HostingChange,
  HostingTransaction,
  StoredTicket,
  TicketChange,
} from './store.js'
