export {
  createGameServer,
  type GameServer,
  type GameServerOptions,
  type ServeHandlers,
  type ServerStatus,
} from './game-server.js'
export type { MatchResult } from './match-result.js'
export type { Match, Player, SeatsWanted } from './served-match.js'
export type { Listing, SessionWanted } from './listing.js'
export type { Environment, ServerPort } from './environment.js'
export type { Clock } from './clock.js'
export { InvalidCall, JoinRefused, type JoinFault } from './errors.js'
