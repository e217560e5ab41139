/** Game servers that speak to Muster: how they are recognized, what they report, and what they are ordered to do. */
export { createServerKeys, joinKeyOf, newSecret, type ServerKeys } from './server-keys.js'
export { JOIN_TOKEN_SECONDS, type JoinClaims, type JoinFault, readJoinToken, signJoinToken } from './join-tokens.js'
