/** Relay sessions: opening, observation and deletion. */
export type { ListedSession, OrphanOptions, ReapedOrphans } from './orphans.js'
export type { RelaySessions } from './relay-sessions.js'
export { credentialsFor, type ReadySession, type RelayCredentials, type RelaySeat, withoutSeat } from './session.js'
