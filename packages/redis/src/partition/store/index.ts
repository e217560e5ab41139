/** What a partition keeps in Redis, and the scripts that change it. */
export { DEFAULT_BOUNDS } from './commit-script.js'
export { decodeHeader, encodeHeader, readPrefix, readStored } from './header.js'
export { FORMAT, partitionKeys } from './partition-keys.js'
export { createRedisStore } from './redis-store.js'
export type {
  Batch,
  Changes,
  Commit,
  CommitOutcome,
  CreateOutcome,
  FollowerReply,
  InboxEntry,
  NewHeader,
  NewTicket,
  Note,
  PartitionStore,
  PlayerTickets,
  HostingChange,
  HostingTransaction,
  StoredTicket,
  TicketChange,
} from './store.js'
