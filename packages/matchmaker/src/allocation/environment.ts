// pure: what the server is told about its match, in environment variables
import type { EnvironmentVariable } from '@muster/core/api'
import { levelAt } from '../grouping/reach.js'
import type { Queue } from '../queue.js'
import type { FoundMatch } from './match.js'

/** Environment values are limited to so many bytes of UTF-8 each (public fact). */
const LONGEST_VALUE_BYTES = 4096

/**
 * Names and forms that servers made for a matchmaker of this interface know (public facts), as far as
 * there is something to say: values are text or JSON. No address is in them.
 *
 * - MM_MATCH_ID, MM_MATCH_PROFILE (the queue), MM_EXPANSION (`initial`, or after how many seconds of
 *   waiting the distance in force began)
 * - MM_TICKET_IDS `["id"…]`; MM_TICKET_{id} `{"id", "profile", "created_at", "players": ["id"…], "attributes": {}}`
 * - MM_GROUPS `{"ticket": ["player"…]}`; MM_TEAMS `{"team": ["ticket"…]}`, all in one team;
 *   MM_EQUALITY and MM_INTERSECTION `{}`
 *
 * A value that is too large is given in parts: instead of KEY there are KEY_PARTS, how many, and KEY_PART_1,
 * KEY_PART_2 …, to be joined.
 */
export function matchEnvironment({ id, tickets, foundAt }: FoundMatch, queue: Queue): EnvironmentVariable[] {
  const youngest = tickets.reduce((latest, ticket) => Math.max(latest, ticket.createdAt), 0)
  const step = queue.distance[levelAt(queue.distance, foundAt - youngest)]
  const ids = tickets.map((ticket) => ticket.id)
  const playerIds = (players: readonly { readonly id: string }[]) => players.map((player) => player.id)

  const values: readonly (readonly [key: string, value: string])[] = [
    ['MM_MATCH_ID', id],
    ['MM_MATCH_PROFILE', queue.name],
    ['MM_EXPANSION', step === undefined || step.afterMs === 0 ? 'initial' : String(step.afterMs / 1000)],
    ['MM_TICKET_IDS', JSON.stringify(ids)],
    ...tickets.map((ticket) => [`MM_TICKET_${ticket.id}`, ticketValue(ticket, queue)] as const),
    ['MM_GROUPS', JSON.stringify(Object.fromEntries(tickets.map((ticket) => [ticket.id, playerIds(ticket.players)])))],
    ['MM_TEAMS', JSON.stringify({ team: ids })],
    ['MM_EQUALITY', '{}'],
    ['MM_INTERSECTION', '{}'],
  ]
  return values.flatMap(([key, value]) => inParts(key, value)).map(([key, value]) => ({ key, value, is_hidden: false }))
}

const ticketValue = ({ id, createdAt, players }: FoundMatch['tickets'][number], queue: Queue) =>
  JSON.stringify({
    id,
    profile: queue.name,
    created_at: new Date(createdAt).toISOString(),
    players: players.map((player) => player.id),
    attributes: {},
  })

function inParts(key: string, value: string): (readonly [key: string, value: string])[] {
  const parts = partsOf(value)
  if (parts.length === 1) return [[key, value]]
  return [[`${key}_PARTS`, String(parts.length)], ...parts.map((part, index) => [`${key}_PART_${index + 1}`, part] as const)]
}

/** Cuts between characters, so that every part is valid UTF-8. */
function partsOf(value: string): string[] {
  if (Buffer.byteLength(value) <= LONGEST_VALUE_BYTES) return [value]
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
