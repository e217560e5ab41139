/** The storage of tickets, lobbies, servers and limits, in files or in Redis. */
export { type OpenLobbies, openLobbies } from './lobbies.js'
export { openLocalMatching } from './local-matching.js'
export type { Matching, MatchingOptions, MatchingStore, MatchingStoreOptions, RefusedTicket } from './matching.js'
