/** Game servers that speak to Muster: how they are recognized, what they report, and what they are ordered to do. */
export {
  createGameServers,
  type GameServerListener,
  type GameServers,
  LOST_AFTER_MS,
  OWN_PAUSE_MS,
} from './game-servers.js'
export { type Registered, ServerGone, type SessionWanted } from './server-orders.js'
export {
  type DrainReason,
  type FreedReason,
  type SeatCounts,
  type ServerListener,
  type ServerView,
  serverViewOf,
} from './server-overview.js'
export type {
  EnrolmentRequest,
  ListingReport,
  MatchResult,
  ServerRegistration,
  ServerReport,
} from './server-reports.js'
export { createServerKeys, type ServerKeys } from './server-keys.js'
export { createJoinSigner } from './join-signer.js'
export type { JoinAlgorithm, JoinGrant } from './join-tokens.js'
