import type { EnvironmentVariable } from '@muster/core/api'
import {
  type Attributes,
  type Deploy,
  type FoundMatch,
  type FoundTicket,
  LARGEST_ENVIRONMENT_BYTES,
  LONGEST_VALUE_BYTES,
} from '../records/index.js'

// The environment variables that describe the match to its server. Pure.

/**
 * The environment variables that describe a match to its server. Names and formats are those that servers for a
 * matchmaker of this interface expect (public facts). Values are strings or JSON. No variable contains a player's
 * address.
 * - MM_MATCH_ID, MM_MATCH_PROFILE (the queue), MM_EXPANSION (`initial`, or the seconds of waiting at which the limits
 *   in force began)
 * - MM_TICKET_IDS `["id"…]`, one for each player, including each player of a party: see `seatIdOf`
 * - MM_TICKET_{id} `{"id", "profile", "created_at", "players": ["id"], "group_id", "team_id", "attributes": {}}`
 * - MM_GROUPS `{"group": ["ticket"…]}`; MM_TEAMS `{"team": ["group"…]}`; MM_EQUALITY `{"attribute": value}`;
 *   MM_INTERSECTION `{"attribute": ["value"…]}`
 * - if a latency rule chose the location (our choice): MM_BEACON, the name of the beacon there; MM_BEACON_LATENCY_MS,
 *   the longest round trip of any player to that beacon; MM_BEACON_LIMIT_MS, the limit of the rule, if it sets one
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
  const teamOf = new Map(teams.flatMap(({ name, ticketIds }) => ticketIds.map((ticketId) => [ticketId, name])))
  tell('MM_TICKET_IDS', JSON.stringify(tickets.flatMap(seatIdsOf)))
  for (const ticket of tickets) variables.push(...ticketVariables(ticket, queue, teamOf.get(ticket.id)))
  tell('MM_GROUPS', objectText(tickets.map((ticket) => [ticket.id, seatIdsOf(ticket)])))
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

/** Returns the id of one player's seat in a ticket: the ticket's id, or `<id>.<index>` in a party. */
export const seatIdOf = (
  { id, players }: { readonly id: string; readonly players: readonly unknown[] },
  index: number,
): string => (players.length === 1 ? id : `${id}.${index}`)

const seatIdsOf = (ticket: FoundTicket): string[] => ticket.players.map((_, index) => seatIdOf(ticket, index))

/** Returns the variables of `matchEnvironment` that describe one ticket: one for each of its players. */
function ticketVariables(ticket: FoundTicket, queue: string, team = ''): EnvironmentVariable[] {
  const variables: EnvironmentVariable[] = []
  const createdAt = new Date(ticket.createdAt).toISOString()
  for (const [index, { id: playerId, attributes }] of ticket.players.entries()) {
    const id = seatIdOf(ticket, index)
    const value = {
      id,
      profile: queue,
      created_at: createdAt,
      players: [playerId],
      group_id: ticket.id,
      team_id: team,
      attributes: attributes ?? {},
    }
    addTo(variables, `MM_TICKET_${id}`, JSON.stringify(value))
  }
  return variables
}

function addTo(variables: EnvironmentVariable[], key: string, value: string): void {
  if (fits(value)) variables.push({ key, value, is_hidden: false })
  else for (const [part, text] of inParts(key, value)) variables.push({ key: part, value: text, is_hidden: false })
}

/** Builds the JSON without an object. Each match has other keys, so the engine would create a hidden class for each. */
const objectText = (entries: readonly (readonly [key: string, value: readonly string[]])[]) =>
  `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`

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

/**
 * Bytes reserved for variables that do not depend on players: match, queue, placement and registration secret,
 * including their names.
 */
const OF_THE_MATCH_BYTES = 4096
/** Factor for the variables of all tickets. Values in parts need extra names, at most 1 %. */
const WITH_PARTS = 1.01

const bytesOf = (text: string) => Buffer.byteLength(text)
const jsonBytes = (value: unknown) => bytesOf(JSON.stringify(value))

export const variablesBytes = (variables: readonly Pick<EnvironmentVariable, 'key' | 'value'>[]): number =>
  variables.reduce((sum, { key, value }) => sum + bytesOf(key) + bytesOf(value), 0)

/** The settings of a queue that decide how large the environment of its servers becomes. */
export interface ServerSettings {
  readonly queue: string
  readonly deploy: Deploy
  /** Names of the teams of a match. */
  readonly teams: readonly string[]
  /** Number of players in the largest possible match. */
  readonly players: number
  /** Names of the attributes that the server receives as common to the match. */
  readonly common: readonly string[]
}

/**
 * Returns the maximum number of bytes of the environment that each player may take so that every possible match fits.
 * Infinity if the queue's own variables leave no room: the queue's settings are then at fault, not a ticket.
 */
export function shareOf({ deploy, teams, players }: ServerSettings): number {
  const own = [...Object.entries(deploy.environment), ...Object.entries(deploy.hiddenEnvironment)]
  const ownBytes = own.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(value), 0)
  // Each team's name is in MM_TEAMS and in the variable of each of its players.
  const longest = Math.max(0, ...teams.map(jsonBytes))
  const teamBytes = teams.reduce((sum, name) => sum + jsonBytes(name) + ':[],'.length, players * longest)
  const left = LARGEST_ENVIRONMENT_BYTES - OF_THE_MATCH_BYTES - ownBytes - Math.ceil(teamBytes * WITH_PARTS)
  return left <= 0 ? Infinity : Math.floor(left / players)
}

/** Returns the maximum number of bytes of the environment that a ticket can take. */
export function bytesOfTicket(
  ticket: FoundTicket,
  { queue, common }: Pick<ServerSettings, 'queue' | 'common'>,
): number {
  const group = jsonBytes(ticket.id) + 1
  const seats = jsonBytes(seatIdsOf(ticket)) + 1
  const attributes = ticket.players.reduce((sum, player) => sum + commonBytes(player.attributes ?? {}, common), 0)
  // The ids of the players' tickets are in MM_TICKET_IDS and MM_GROUPS, the ticket's own id in MM_GROUPS and MM_TEAMS.
  const around = 2 * (group + seats) + attributes
  return variablesBytes(ticketVariables(ticket, queue)) + Math.ceil(around * WITH_PARTS)
}

const commonBytes = (attributes: Attributes, common: readonly string[]): number =>
  common.reduce(
    (sum, name) => sum + (Object.hasOwn(attributes, name) ? jsonBytes(name) + jsonBytes(attributes[name]) + 2 : 0),
    0,
  )

/** Upper limits for the JSON punctuation and keys, in bytes: per player of a ticket, and per value. */
const AROUND_PLAYER = 360
const AROUND_VALUE = 30
/** JSON takes at most six bytes for each UTF-16 unit of a string (`\uXXXX`). */
const PER_UNIT = 6

/** Returns an upper limit of `bytesOfTicket`, computed in a fraction of the time. */
export function roughBytesOfTicket(
  { id, players }: FoundTicket,
  { queue, common }: Pick<ServerSettings, 'queue' | 'common'>,
): number {
  let units = 2 * queue.length * players.length
  let values = 0
  for (const player of players) {
    units += player.id.length
    const attributes = player.attributes ?? {}
    for (const name in attributes) {
      const value = attributes[name]
      values += 1
      units += name.length
      if (typeof value === 'string') units += value.length
      else if (typeof value === 'object') {
        values += value.length
        for (const one of value) units += one.length
      }
    }
  }
  const twice = common.length === 0 ? 1 : 2
  const bytes =
    players.length * (AROUND_PLAYER + 6 * id.length) +
    2 * id.length +
    twice * (PER_UNIT * units + AROUND_VALUE * values)
  // A long value is split into parts, and the name of each part contains the ticket's id.
  return bytes * 1.1
}

/** Returns the ids of the tickets that take more than their players' share of an environment that is too large. */
export function oversized({ tickets, queue, equality, intersection }: FoundMatch): readonly string[] {
  const settings = { queue, common: [...Object.keys(equality), ...Object.keys(intersection)] }
  const players = tickets.reduce((sum, ticket) => sum + ticket.players.length, 0)
  const share = LARGEST_ENVIRONMENT_BYTES / players
  const isOversized = (ticket: FoundTicket) => bytesOfTicket(ticket, settings) > share * ticket.players.length
  return tickets.filter(isOversized).map(({ id }) => id)
}
