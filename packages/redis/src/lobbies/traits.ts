// pure: how lobbies are found by what they are
import type { Attributes, Lobby } from '@muster/relay'
import { isListed } from '@muster/relay'

/** What all listed lobbies have. */
const LISTED = 'listed'

/** As two JSON values side by side, so that neither the type nor the end of a name is in doubt. */
const traitOf = ([name, value]: readonly [string, Attributes[string]]) =>
  `${JSON.stringify(name)}${JSON.stringify(value)}`

/** Each trait is there twice: for all listed lobbies that have it, and for those of them with a free slot. */
const any = (trait: string) => `*${trait}`
const free = (trait: string) => `+${trait}`

const freeSlots = ({ maxPlayers, members }: Lobby) => maxPlayers - members.length

/** The free slots and the traits of a lobby, one a line; empty for one that is not listed. */
export function listingOf(lobby: Lobby): string {
  if (!isListed(lobby)) return ''
  const slots = freeSlots(lobby)
  const traits = [LISTED, ...Object.entries(lobby.data).map(traitOf)]
  return [slots, ...traits.map(any), ...(slots > 0 ? traits.map(free) : [])].join('\n')
}

/** The traits that a lobby must have. */
export function wantedTraits(data: Attributes, isFree: boolean): readonly string[] {
  const wanted = Object.entries(data)
  return (wanted.length === 0 ? [LISTED] : wanted.map(traitOf)).map(isFree ? free : any)
}

/** The members as they are found by player: JSON has no end of line, and ends a text by a quote. */
export const membersOf = ({ members }: Lobby): string => members.map(({ id }) => JSON.stringify(id)).join('\n')
