/** The write-ahead log: one interface, in a file or in memory. */
export { createRecovery } from './recovery.js'
export { createServerLogWriter, type ServerLogWriter, WRITTEN } from './server-log-writer.js'
export type { ServerEntry, ServerLog, ServerRecord, SeatParty, SessionStart, StoredSession } from './server-log.js'
