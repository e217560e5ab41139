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

/** Limits on the servers that one player may cause. */
interface PlayerBounds {
  /** Maximum number of matches that a player waits for and plays in at a time; 1 once half of `maxServers` exist. */
  readonly maxMatchesPerPlayer: number
  readonly maxServers: number
  /** Maximum number of servers created for matches of a player within an hour. */
  readonly maxServersPerPlayer: number
}

/** Counts the servers that were created for each player's matches. */
export interface PlayerLimits {
  /** Counts a server that was created for these players. */
  served(playerIds: readonly string[], now: number): void
  /**
   * Checks that the player may create one more ticket.
   * @param matches number of matches that the player waits for and plays in.
   * @throws {PlayerOverLimit}
   */
  check(playerId: string, matches: number, now: number): void
}

const HOUR_MS = 3_600_000
/** Share of `maxServers` from which on a player may be in one match only (our choice). */
const PART_FOR_SEVERAL = 1 / 2
/**
 * Maximum number of players whose servers are counted. Beyond it, the player whose last server is the oldest is
 * dropped.
 */
const REMEMBERED = 100_000

/** Number of servers for one player within the hour that begins with the first of these servers. */
interface ServersOfPlayer {
  /** Epoch milliseconds. */
  readonly since: number
  readonly count: number
}

/** Creates the limits of players. @param servers returns the number of servers that exist or may exist. */
export function createPlayerLimits(bounds: PlayerBounds, servers: () => number): PlayerLimits {
  const { maxMatchesPerPlayer, maxServersPerPlayer, maxServers } = bounds
  const counts =
    maxServersPerPlayer < Infinity ? new LRUCache<string, ServersOfPlayer>(growingTo(REMEMBERED)) : undefined
  const current = (playerId: string, now: number): ServersOfPlayer | undefined => {
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
      // When servers are scarce, players who already have a match must not take the servers of players who have none.
      const isScarce = matches > 0 && servers() >= maxServers * PART_FOR_SEVERAL
      if (matches >= maxMatchesPerPlayer || isScarce) throw new PlayerOverLimit(playerId, 'maxMatchesPerPlayer')
      const served = current(playerId, now)
      if (served === undefined || served.count < maxServersPerPlayer) return
      throw new PlayerOverLimit(playerId, 'maxServersPerPlayer', served.since + HOUR_MS - now)
    },
  }
}

/**
 * Refuses a ticket that does not fit into a server's environment, given the largest match of its queue.
 * @throws {InvalidTicket}
 */
export type CheckEnvironment = (ticket: FoundTicket) => void

/** Returns the environment variables of a queue's servers. @param teams the teams of a match. */
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
 * Creates the check that gives each player an equal share of a server's environment, by the largest match. A ticket
 * that needs more is refused. Otherwise one player could make the matches of others impossible.
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
      `but in a match of ${settings.players} players only ${mayTake} bytes fit`
    throw new InvalidTicket(`ticket: ${field}: ${message}`, { field })
  }
}
