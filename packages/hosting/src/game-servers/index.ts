/** Game servers that report to Muster: how they are recognized, their reports, and their orders. */
export { type GameServerListener, GameServers, isOpen, freePlacesOn, LOST_AFTER_MS } from './game-servers.js'
export { type Registered, ServerGone, type SessionWanted } from './server-orders.js'
export { type FreedReason, type SeatCounts, type ServerListener, type ServerView } from './server-overview.js'
export { createServerKeys, type ServerKeys } from './server-keys.js'
export { createJoinSigner } from './join-signer.js'
export type { JoinAlgorithm, JoinGrant } from './join-tokens.js'
