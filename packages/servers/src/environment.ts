// pure: the environment variables that describe a match to its server
import type { EnvironmentVariable } from '@muster/core/api'
import { LONGEST_VALUE_BYTES } from './records/env-limits.js'
import type { FoundMatch, FoundTicket } from './records/allocation.js'

/**
 * The environment variables that describe a match to its server. Names and forms are those that servers made for a
 * matchmaker of this interface know (public facts). Values are text or JSON. No variable contains a player's address.
 * - MM_MATCH_ID, MM_MATCH_PROFILE (the queue), MM_EXPANSION (`initial`, or the seconds of waiting at which the limits
 *   in force began)
 * - MM_TICKET_IDS `["id"…]`; MM_TICKET_{id} `{"id", "profile", "created_at", "players": ["id"…], "attributes": {}}`,
 *   with the player's attributes if the ticket has a single player
 * - MM_GROUPS `{"ticket": ["player"…]}`; MM_TEAMS `{"team": ["ticket"…]}`; MM_EQUALITY `{"attribute": value}`;
 *   MM_INTERSECTION `{"attribute": ["value"…]}`
 * - if a latency rule chose the place (our choice): MM_BEACON, the name of the beacon there; MM_BEACON_LATENCY_MS, the
 *   longest round trip of any player to that beacon; MM_BEACON_LIMIT_MS, the limit of the rule, if it sets one
 * - for a value that is too large for one variable: instead of KEY, KEY_PARTS (the number of parts) and KEY_PART_1,
 *   KEY_PART_2 …, which the server joins
 */
export function matchEnvironment(match: FoundMatch): EnvironmentVariable[] {
  const { id, queue, tickets, teams, expansionMs, equality, intersection, placement } = match
  const variables: EnvironmentVariable[] = []
  const tell = (key: string, value: string) => addTo(variables, key, value)
  tell('MM_MATCH_ID', id)
  tell('MM_MATCH_PROFILE', queue)
  tell('MM_EXPANSION', expansionMs === 0 ? 'initial' : String(expansionMs / 1000))
  tell('MM_TICKET_IDS', JSON.stringify(tickets.map((ticket) => ticket.id)))
  for (const ticket of tickets) tell(ticketKey(ticket), ticketValue(ticket, queue))
  tell('MM_GROUPS', objectText(tickets.map((ticket) => [ticket.id, playerIdsOf(ticket)])))
  tell('MM_TEAMS', objectText(teams.map(({ name, ticketIds }) => [name, ticketIds])))
  tell('MM_EQUALITY', JSON.stringify(equality))
  tell('MM_INTERSECTION', JSON.stringify(intersection))
  if (placement !== undefined) {
    tell('MM_BEACON', placement.beacon)
    tell('MM_BEACON_LATENCY_MS', String(Math.round(placement.worstMs)))
    if (placement.limitMs !== undefined) tell('MM_BEACON_LIMIT_MS', String(Math.round(placement.limitMs)))
  }
  return variables
}

/** The variables of `matchEnvironment` that describe one ticket. */
export function ticketVariables(ticket: FoundTicket, queue: string): EnvironmentVariable[] {
  const variables: EnvironmentVariable[] = []
  addTo(variables, ticketKey(ticket), ticketValue(ticket, queue))
  return variables
}

function addTo(variables: EnvironmentVariable[], key: string, value: string): void {
  if (fits(value)) variables.push({ key, value, is_hidden: false })
  else for (const [part, text] of inParts(key, value)) variables.push({ key: part, value: text, is_hidden: false })
}

const ticketKey = ({ id }: FoundTicket) => `MM_TICKET_${id}`

/**
 * The JSON of an object, written without building the object: each match has other keys, for which the engine would
 * create a new hidden class.
 */
const objectText = (entries: readonly (readonly [key: string, value: readonly string[]])[]) =>
  `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`

const playerIdsOf = ({ players }: FoundTicket) => players.map((player) => player.id)

const ticketValue = (ticket: FoundTicket, queue: string) =>
  JSON.stringify({
    id: ticket.id,
    profile: queue,
    created_at: new Date(ticket.createdAt).toISOString(),
    players: playerIdsOf(ticket),
    attributes: (ticket.players.length === 1 ? ticket.players[0]?.attributes : undefined) ?? {},
  })

/** Each UTF-16 unit takes at most three bytes of UTF-8, so hardly any value has to be measured. */
const fits = (value: string) =>
  value.length * 3 <= LONGEST_VALUE_BYTES || Buffer.byteLength(value) <= LONGEST_VALUE_BYTES

function inParts(key: string, value: string): (readonly [key: string, value: string])[] {
  const parts = partsOf(value)
  return [
    [`${key}_PARTS`, String(parts.length)],
    ...parts.map((part, index) => [`${key}_PART_${index + 1}`, part] as const),
  ]
}

/** Splits a value between characters, so that every part is valid UTF-8. */
function partsOf(value: string): string[] {
  const parts: string[] = []
  let part = ''
  let bytes = 0
  for (const character of value) {
    const size = Buffer.byteLength(character)
    if (bytes + size > LONGEST_VALUE_BYTES) {
      parts.push(part)
      part = ''
      bytes = 0
    }
    part += character
    bytes += size
  }
  return [...parts, part]
}
