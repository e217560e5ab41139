/** Game servers that speak to Muster: how they are recognized, what they report, and what they are ordered to do. */
export {
  BEAT_MS,
  createGameServers,
  type DrainReason,
  type GameServerListener,
  type GameServers,
  type GameServerView,
  LOST_AFTER_MS,
  type MatchRoster,
  type Registered,
  type RosterPlayer,
  ServerGone,
  ServerNotRegistered,
  type ServerOrders,
} from './game-servers.js'
export {
  type MatchResult,
  RegistrationBody,
  ReportBody,
  type SeatsWanted,
  type ServerRegistration,
  type ServerReport,
} from './server-reports.js'
export { SERVER_STATES, type ServerState } from './server-states.js'
export { createServerKeys, joinKeyOf, newSecret, type ServerKeys } from './server-keys.js'
export {
  grantJoin,
  JOIN_TOKEN_SECONDS,
  type JoinGrant,
  type JoinClaims,
  type JoinFault,
  readJoinToken,
  signJoinToken,
} from './join-tokens.js'
