/** The write-ahead log of servers and matches, in a file or in memory. */
export { createRecovery, type Recovery } from './recovery.js'
export { ServerLogWriter, WRITTEN } from './server-log-writer.js'
export type {
  HostingEntry,
  MatchRecord,
  SeatParty,
  ServerRecord,
  SessionStart,
  StoredFleet,
  StoredSession,
} from './entries.js'
export type { ServerLog } from './server-log.js'
