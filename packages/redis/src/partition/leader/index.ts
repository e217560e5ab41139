/** What the leader of a partition does: it replays the log, keeps the lease, and commits. */
export { leadEpoch } from './lease-epoch.js'
export { createReplica } from './replica.js'
export { createStandby, createSync, type Standby } from './standby.js'
