// pure: keys of a lobby store
import type { KeySpace } from '../connection/keys.js'

/**
 * The keys of one store, all in one slot. Every one has an entry per lobby at most a few times, `ev` has a bound, and
 * all of them expire some days after the last process that used the store has ended.
 */
export interface LobbyKeys {
  /** Hash: id → `version number code`. The number rises with every lobby created. */
  readonly head: string
  /** Hash: id → the lobby as JSON, with addresses, tokens and digests of passwords. */
  readonly body: string
  /** Hash: code → id. */
  readonly codes: string
  /** Sorted set: id by the time at which it is due. */
  readonly due: string
  /** Hash: id → members, as in `players`. */
  readonly members: string
  /** Sorted set by name: `"player" id`, for the lobbies of a player. */
  readonly players: string
  /** Hash: id → how the lobby is listed: free slots, then its traits, one a line. Listed lobbies only. */
  readonly listing: string
  /** Sorted set by name: trait, number and id of each listed lobby. */
  readonly traits: string
  /** Text: the last number. */
  readonly last: string
  /** Stream: ids of changed lobbies, about the last 10,000. */
  readonly events: string
}

export const lobbyKeys = (key: KeySpace): LobbyKeys => ({
  head: key('h'),
  body: key('b'),
  codes: key('c'),
  due: key('due'),
  members: key('m'),
  players: key('p'),
  listing: key('l'),
  traits: key('t'),
  last: key('n'),
  events: key('ev'),
})
