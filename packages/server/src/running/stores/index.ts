/** The storage of tickets, lobbies, servers and limits, in files or in Redis. */
export { type OpenLobbies, openLobbies } from './lobbies.js'
export { openLocalMatching } from './local-matching.js'
export {
  type Matching,
  type MatchingOptions,
  type MatchingStore,
  type MatchingStoreOptions,
  type RefusedTicket,
  serviceClock,
} from './matching.js'
