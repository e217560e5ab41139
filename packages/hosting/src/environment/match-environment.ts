import type { EnvironmentVariable } from '@muster/core/api'
import {
  type Attributes,
  type Deploy,
  type FoundMatch,
  type FoundTicket,
  LARGEST_ENVIRONMENT_BYTES,
  LONGEST_VALUE_BYTES,
} from '../records/index.js'

/**
 * Returns the environment variables that describe a match to its server. Their names and formats are public facts,
 * which existing game servers rely on. Values are strings or JSON. No variable contains a player's address.
 * - MM_MATCH_ID, MM_MATCH_PROFILE (the queue), MM_EXPANSION (the waiting time in seconds from which the rules' current
 *   limits apply, or `initial` for 0)
 * - MM_TICKET_IDS `["id"…]`, one id for each player, see `seatIdOf`
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

/** Returns the id of a player's seat: the ticket's id, or `<ticket id>.<index>` for a ticket of several players. */
export const seatIdOf = (
  { id, players }: { readonly id: string; readonly players: readonly unknown[] },
  index: number,
): string => (players.length === 1 ? id : `${id}.${index}`)

const seatIdsOf = (ticket: FoundTicket): string[] => ticket.players.map((_, index) => seatIdOf(ticket, index))

/** Returns the variables of one ticket: one variable for each of its players. */
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

/**
 * Builds the JSON text of an object. An object with other keys for each match would cost V8 a hidden class each time.
 */
const objectText = (entries: readonly (readonly [key: string, value: readonly string[]])[]) =>
  `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`

/**
 * True if the value fits into one variable. A UTF-16 unit takes at most three bytes, so short values are not measured.
 */
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
 * Bytes reserved for the names and values of variables that do not depend on players: match, queue, placement, secret.
 */
const OF_THE_MATCH_BYTES = 4096
/** Factor for the extra variable names of values in parts: at most 1 %. */
const WITH_PARTS = 1.01

const bytesOf = (text: string) => Buffer.byteLength(text)
const jsonBytes = (value: unknown) => bytesOf(JSON.stringify(value))

export const variablesBytes = (variables: readonly Pick<EnvironmentVariable, 'key' | 'value'>[]): number =>
  variables.reduce((sum, { key, value }) => sum + bytesOf(key) + bytesOf(value), 0)

/** The settings of a queue that determine the size of its servers' environment. */
export interface ServerSettings {
  readonly queue: string
  readonly deploy: Deploy
  readonly teams: readonly string[]
  readonly players: number
  /** Names of the attributes that the server receives as common to all players. */
  readonly common: readonly string[]
}

/**
 * Returns the bytes of the environment that each player may take, so that even the largest match fits. Infinity if the
 * queue's own variables leave no room, because then no ticket is at fault.
 */
export function shareOf({ deploy, teams, players }: ServerSettings): number {
  const own = [...Object.entries(deploy.environment), ...Object.entries(deploy.hiddenEnvironment)]
  const ownBytes = own.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(value), 0)
  // MM_TEAMS contains the name of each team. Each player's variable contains the name of the player's team.
  const longest = Math.max(0, ...teams.map(jsonBytes))
  const teamBytes = teams.reduce((sum, name) => sum + jsonBytes(name) + ':[],'.length, players * longest)
  const left = LARGEST_ENVIRONMENT_BYTES - OF_THE_MATCH_BYTES - ownBytes - Math.ceil(teamBytes * WITH_PARTS)
  return left <= 0 ? Infinity : Math.floor(left / players)
}

/** Returns the bytes that a ticket takes of its server's environment, as an upper bound. */
export function bytesOfTicket(
  ticket: FoundTicket,
  { queue, common }: Pick<ServerSettings, 'queue' | 'common'>,
): number {
  const group = jsonBytes(ticket.id) + 1
  const seats = jsonBytes(seatIdsOf(ticket)) + 1
  const attributes = ticket.players.reduce((sum, player) => sum + commonBytes(player.attributes ?? {}, common), 0)
  // MM_TICKET_IDS and MM_GROUPS contain the players' seat ids. MM_GROUPS and MM_TEAMS contain the ticket's id.
  const around = 2 * (group + seats) + attributes
  return variablesBytes(ticketVariables(ticket, queue)) + Math.ceil(around * WITH_PARTS)
}

const commonBytes = (attributes: Attributes, common: readonly string[]): number =>
  common.reduce(
    (sum, name) => sum + (Object.hasOwn(attributes, name) ? jsonBytes(name) + jsonBytes(attributes[name]) + 2 : 0),
    0,
  )

/** Upper bounds of the JSON punctuation and keys, in bytes: per player of a ticket, and per value. */
const AROUND_PLAYER = 360
const AROUND_VALUE = 30
/** JSON takes at most six bytes for each UTF-16 unit of a string (`\uXXXX`). */
const PER_UNIT = 6

/** Returns an upper bound of `bytesOfTicket` that is much faster to compute. */
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
  // The parts of a long value add variable names that contain the ticket's id.
  return bytes * 1.1
}

/** If the environment is too large, returns the ids of the tickets that take more than an equal share per player. */
export function oversized({ tickets, queue, equality, intersection }: FoundMatch): readonly string[] {
  const settings = { queue, common: [...Object.keys(equality), ...Object.keys(intersection)] }
  const players = tickets.reduce((sum, ticket) => sum + ticket.players.length, 0)
  const share = LARGEST_ENVIRONMENT_BYTES / players
  const isOversized = (ticket: FoundTicket) => bytesOfTicket(ticket, settings) > share * ticket.players.length
  return tickets.filter(isOversized).map(({ id }) => id)
}
