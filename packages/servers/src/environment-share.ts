// pure: how much of a server's environment a ticket takes, and how much it may take
import type { EnvironmentVariable } from '@muster/core/api'
import type { Attributes } from './records/player.js'
import { ticketVariables } from './environment.js'
import type { FoundMatch, FoundTicket } from './records/allocation.js'
import type { Deploy } from './records/deploy.js'
import { LARGEST_ENVIRONMENT_BYTES } from './records/env-limits.js'

/**
 * Bytes reserved for the variables that do not depend on the players: match, queue, placement and registration secret,
 * with their names.
 */
const OF_THE_MATCH_BYTES = 4096
/**
 * Factor for variables shared by all tickets: a value that is split into parts adds the names of the parts, at most 1
 * %.
 */
const WITH_PARTS = 1.01

const bytesOf = (text: string) => Buffer.byteLength(text)
const jsonBytes = (value: unknown) => bytesOf(JSON.stringify(value))

export const variablesBytes = (variables: readonly Pick<EnvironmentVariable, 'key' | 'value'>[]): number =>
  variables.reduce((sum, { key, value }) => sum + bytesOf(key) + bytesOf(value), 0)

/** The settings of a queue that decide how large the environment of its servers becomes. */
export interface Told {
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
 * Bytes of the environment that each player may take so that every possible match fits. Infinity if the queue's own
 * variables leave no room: then the queue's settings are at fault, and not any ticket.
 */
export function shareOf({ deploy, teams, players }: Told): number {
  const own = [...Object.entries(deploy.environment), ...Object.entries(deploy.hiddenEnvironment)]
  const ownBytes = own.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(value), 0)
  const teamBytes = teams.reduce((sum, name) => sum + jsonBytes(name) + ':[],'.length, 0)
  const left = LARGEST_ENVIRONMENT_BYTES - OF_THE_MATCH_BYTES - ownBytes - Math.ceil(teamBytes * WITH_PARTS)
  return left <= 0 ? Infinity : Math.floor(left / players)
}

/** The most bytes of the environment that a ticket can take. */
export function bytesOfTicket(ticket: FoundTicket, { queue, common }: Pick<Told, 'queue' | 'common'>): number {
  const id = jsonBytes(ticket.id) + 1
  const players = jsonBytes(ticket.players.map((player) => player.id)) + 1
  const attributes = ticket.players.reduce((sum, player) => sum + commonBytes(player.attributes ?? {}, common), 0)
  // The ticket's id appears in MM_TICKET_IDS, MM_GROUPS and MM_TEAMS.
  return variablesBytes(ticketVariables(ticket, queue)) + Math.ceil((3 * id + players + attributes) * WITH_PARTS)
}

const commonBytes = (attributes: Attributes, common: readonly string[]): number =>
  common.reduce(
    (sum, name) => sum + (Object.hasOwn(attributes, name) ? jsonBytes(name) + jsonBytes(attributes[name]) + 2 : 0),
    0,
  )

/** Upper bounds for the JSON punctuation and keys, in bytes: per ticket, and per value. */
const AROUND_TICKET = 320
const AROUND_VALUE = 30
/** JSON takes at most six bytes for each UTF-16 unit of a text (`\uXXXX`). */
const PER_UNIT = 6

/** An upper bound of `bytesOfTicket`, computed in a fraction of the time. */
export function roughBytesOfTicket(
  { id, players }: FoundTicket,
  { queue, common }: Pick<Told, 'queue' | 'common'>,
): number {
  let units = 2 * queue.length
  let values = 0
  for (const player of players) {
    units += 2 * player.id.length
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
    AROUND_TICKET + 6 * id.length + players.length * AROUND_VALUE + twice * (PER_UNIT * units + AROUND_VALUE * values)
  // A long value is split into parts, and the name of each part contains the ticket's id.
  return bytes * 1.1
}

/**
 * Ids of the tickets that take more than their share, by number of players, of the environment of a match that is too
 * large.
 */
export function oversized({ tickets, queue, equality, intersection }: FoundMatch): readonly string[] {
  const told = { queue, common: [...Object.keys(equality), ...Object.keys(intersection)] }
  const players = tickets.reduce((sum, ticket) => sum + ticket.players.length, 0)
  const share = LARGEST_ENVIRONMENT_BYTES / players
  return tickets.flatMap((ticket) => (bytesOfTicket(ticket, told) > share * ticket.players.length ? [ticket.id] : []))
}
