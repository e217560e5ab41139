// pure: what the server is told about its match, in environment variables
import type { EnvironmentVariable } from '@muster/core/api'
import { LONGEST_VALUE_BYTES } from './records/env-limits.js'
import type { FoundMatch, FoundTicket } from './records/allocation.js'

/**
 * Names and forms that servers made for a matchmaker of this interface know (public facts), as far as
 * there is something to say: values are text or JSON. No address is in them.
 *
 * - MM_MATCH_ID, MM_MATCH_PROFILE (the queue), MM_EXPANSION (`initial`, or after how many seconds of
 *   waiting the limits in force began)
 * - MM_TICKET_IDS `["id"…]`; MM_TICKET_{id} `{"id", "profile", "created_at", "players": ["id"…], "attributes": {}}`,
 *   with the attributes of its player if it has one
 * - MM_GROUPS `{"ticket": ["player"…]}`; MM_TEAMS `{"team": ["ticket"…]}`; MM_EQUALITY `{"attribute": value}`;
 *   MM_INTERSECTION `{"attribute": ["value"…]}`
 * - where a latency rule chose the place (ours): MM_BEACON, the name of the beacon there; MM_BEACON_LATENCY_MS, of all
 *   players the longest round trip to it; MM_BEACON_LIMIT_MS, what the rule promises, if it sets a limit
 *
 * A value that is too large is given in parts: instead of KEY there are KEY_PARTS, how many, and KEY_PART_1,
 * KEY_PART_2 …, to be joined.
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

/** Those of these that are about one ticket. */
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
 * The JSON of an object, without making it: with other keys in each match, the engine would have to make up a shape for
 * each.
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

/** A character has at most three bytes for each of its units, so that hardly a value needs to be measured. */
const fits = (value: string) =>
  value.length * 3 <= LONGEST_VALUE_BYTES || Buffer.byteLength(value) <= LONGEST_VALUE_BYTES

function inParts(key: string, value: string): (readonly [key: string, value: string])[] {
  const parts = partsOf(value)
  return [
    [`${key}_PARTS`, String(parts.length)],
    ...parts.map((part, index) => [`${key}_PART_${index + 1}`, part] as const),
  ]
}

/** Cuts between characters, so that every part is valid UTF-8. */
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
