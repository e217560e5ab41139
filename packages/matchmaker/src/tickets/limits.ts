import { growingTo } from '@muster/core/internal'
import {
  bytesOfTicket,
  type FoundTicket,
  roughBytesOfTicket,
  shareOf,
  type ServerSettings,
} from '@muster/hosting/internal'
import { LRUCache } from 'lru-cache'
import { InvalidTicket, PlayerOverLimit } from '../errors.js'
import type { Queue } from '../queues/index.js'

/** What one account may cost. */
interface PlayerBounds {
  /** Matches that a player waits for and plays in at once. One, while half of `maxServers` exist. */
  readonly maxMatchesPerPlayer: number
  readonly maxServers: number
  /** Servers that are created for matches of a player within an hour. */
  readonly maxServersPerPlayer: number
}

/** Keeps count of the servers that were created for each player's matches. */
export interface PlayerLimits {
  /** A server was created for these players. */
  served(playerIds: readonly string[], now: number): void
  /** @param matches that they wait for and play in. @throws {PlayerOverLimit} */
  check(playerId: string, matches: number, now: number): void
}

const HOUR_MS = 3_600_000
/** The part of all servers up to which a player may be in several matches (our choice). */
const PART_FOR_SEVERAL = 1 / 2
/** Most players whose servers are counted; the one without a server for longest is dropped first. */
const REMEMBERED = 100_000

/** Servers for one player within an hour that begins with the first; it says nothing about another hour. */
interface Served {
  /** Epoch milliseconds. */
  readonly since: number
  readonly count: number
}

/** @param servers the number of servers that exist or may exist. */
export function createPlayerLimits(bounds: PlayerBounds, servers: () => number): PlayerLimits {
  const { maxMatchesPerPlayer, maxServersPerPlayer, maxServers } = bounds
  const counts = maxServersPerPlayer < Infinity ? new LRUCache<string, Served>(growingTo(REMEMBERED)) : undefined
  const current = (playerId: string, now: number): Served | undefined => {
    const served = counts?.peek(playerId)
    return served !== undefined && now - served.since < HOUR_MS ? served : undefined
  }
  return {
    served: (playerIds, now) => {
      if (counts === undefined) return
      for (const id of playerIds) {
        const { since, count } = current(id, now) ?? { since: now, count: 0 }
        counts.set(id, { since, count: count + 1 })
      }
    },
    check: (playerId, matches, now) => {
      // So accounts that are in several matches each do not take the servers of players who have none.
      const isScarce = matches > 0 && servers() >= maxServers * PART_FOR_SEVERAL
      if (matches >= maxMatchesPerPlayer || isScarce) throw new PlayerOverLimit(playerId, 'maxMatchesPerPlayer')
      const served = current(playerId, now)
      if (served === undefined || served.count < maxServersPerPlayer) return
      throw new PlayerOverLimit(playerId, 'maxServersPerPlayer', served.since + HOUR_MS - now)
    },
  }
}

/**
 * Refuses a ticket that does not fit into a server's environment, in the largest match of its queue.
 * @throws {InvalidTicket}
 */
export type CheckEnvironment = (ticket: FoundTicket) => void

/** The environment variables of a queue's servers. @param teams of a match. */
export const serverSettingsOf = (
  { name, deploy, rules }: Queue,
  teams: readonly { readonly name: string; readonly max: number }[],
): ServerSettings => ({
  queue: name,
  deploy,
  teams: teams.map((team) => team.name),
  players: teams.reduce((sum, { max }) => sum + max, 0),
  common: rules.flatMap((rule) => (rule.kind === 'equal' || rule.kind === 'overlap' ? [rule.attribute] : [])),
})

/**
 * Each player gets an equal share of the environment of a server, by the largest match. A ticket that needs more is
 * refused, so that nobody can make the matches of others impossible.
 */
export function createCheckEnvironment(settings: ServerSettings): CheckEnvironment {
  const share = shareOf(settings)
  return (ticket) => {
    const mayTake = share * ticket.players.length
    if (roughBytesOfTicket(ticket, settings) <= mayTake) return
    const bytes = bytesOfTicket(ticket, settings)
    if (bytes <= mayTake) return
    const field = ticket.players.length === 1 ? 'players.0.attributes' : 'players'
    const message =
      `are too large: they take ${bytes} bytes of the environment of their server, ` +
      `and of a match of ${settings.players} players only ${mayTake} fit`
    throw new InvalidTicket(`ticket: ${field}: ${message}`, { field })
  }
}
