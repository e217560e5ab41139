// pure: keys of a lobby store, and the traits by which lobbies are found
import { type Attributes, isListed, type Lobby } from '@muster/relay'
import type { KeySpace } from '../connection/index.js'

/**
 * The keys of one store, all in one slot. Each has at most a few entries per lobby, and `ev` is limited. All of them
 * expire some days after the last process that used the store has ended.
 */
export const lobbyKeys = (key: KeySpace) => ({
  /** Hash: id → `version number code`. The number rises with every lobby created. */
  head: key('h'),
  /** Hash: id → the lobby as JSON, with addresses, tokens and digests of passwords. */
  body: key('b'),
  /** Hash: code → id. */
  codes: key('c'),
  /** Sorted set: id by the time at which it is due. */
  due: key('due'),
  /** Hash: id → members, as in `players`. */
  members: key('m'),
  /** Sorted set by name: `"player" id`, for the lobbies of a player. */
  players: key('p'),
  /** Hash: id → its listing: free slots, then its traits, one per line. Only for listed lobbies. */
  listing: key('l'),
  /** Sorted set by name: trait, number and id of each listed lobby. */
  traits: key('t'),
  /** String: the number of the last created lobby. */
  last: key('n'),
  /** Stream: ids of changed lobbies, about the last 10,000. */
  events: key('ev'),
})

/** The trait of all listed lobbies. */
const LISTED = 'listed'

/** Returns a trait: two adjacent JSON values, so that both the type and the end of the name are clear. */
const traitOf = ([name, value]: readonly [string, Attributes[string]]) =>
  `${JSON.stringify(name)}${JSON.stringify(value)}`

/** Each trait exists twice: for all listed lobbies that have it, and for those of them with a free slot. */
const any = (trait: string) => `*${trait}`
const free = (trait: string) => `+${trait}`

const freeSlots = ({ maxPlayers, members }: Lobby) => maxPlayers - members.length

/** Returns the free slots and the traits of a lobby, one per line; empty if it is not listed. */
export function listingOf(lobby: Lobby): string {
  if (!isListed(lobby)) return ''
  const slots = freeSlots(lobby)
  const traits = [LISTED, ...Object.entries(lobby.data).map(traitOf)]
  return [slots, ...traits.map(any), ...(slots > 0 ? traits.map(free) : [])].join('\n')
}

/** Returns the traits that a lobby must have. */
export function wantedTraits(data: Attributes, isFree: boolean): readonly string[] {
  const wanted = Object.entries(data)
  return (wanted.length === 0 ? [LISTED] : wanted.map(traitOf)).map(isFree ? free : any)
}

/**
 * Returns the members, one JSON string a line; none for a closed lobby. A script finds a player's line in it: JSON has
 * no line feeds, and every string ends with a quote.
 */
export const membersOf = ({ members, phase }: Lobby): string =>
  phase === 'closed' ? '' : members.map(({ id }) => JSON.stringify(id)).join('\n')
