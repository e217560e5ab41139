import type { Match, TicketRecord } from './ticket-record.js'

/** The tickets of each player that have not ended. */
export interface PlayerIndex {
  add(record: TicketRecord): void
  /**
   * Removes players of a ticket from the index.
   * @param playerIds the players who have left the ticket. Default: all of its players.
   */
  remove(record: TicketRecord, playerIds?: readonly string[]): void
  ticketsOf(playerId: string): readonly TicketRecord[]
  /** True if any player is in several tickets. */
  isShared(): boolean
}

const NONE: readonly TicketRecord[] = []

export function createPlayerIndex(): PlayerIndex {
  /**
   * The ticket of each player, or a list of tickets. Nearly all players are in one ticket only, and a list for them
   * would take more memory than the entry.
   */
  const byPlayer = new Map<string, TicketRecord | readonly TicketRecord[]>()

  const ticketsOf = (playerId: string): readonly TicketRecord[] => {
    const found = byPlayer.size === 0 ? undefined : byPlayer.get(playerId)
    return found === undefined ? NONE : isList(found) ? found : [found]
  }
  /** Number of players in several tickets. */
  let shared = 0

  return {
    add: (record) => {
      for (const { id } of record.players) {
        const others = byPlayer.get(id)
        if (others === undefined) {
          byPlayer.set(id, record)
          continue
        }
        if (!isList(others)) shared += 1
        byPlayer.set(id, [...ticketsOf(id), record])
      }
    },
    remove: (record, playerIds) => {
      for (const { id } of record.players) {
        if (playerIds !== undefined && !playerIds.includes(id)) continue
        if (byPlayer.get(id) === record) {
          byPlayer.delete(id)
          continue
        }
        const before = ticketsOf(id)
        if (!before.includes(record)) continue
        const [other, ...more] = before.filter((one) => one !== record)
        if (more.length === 0) shared -= 1
        if (other !== undefined) byPlayer.set(id, more.length === 0 ? other : [other, ...more])
      }
    },
    ticketsOf,
    isShared: () => shared > 0,
  }
}

const isList = (found: TicketRecord | readonly TicketRecord[] | undefined): found is readonly TicketRecord[] =>
  Array.isArray(found)

/** The tickets of running matches, and which of their players are still in the match. */
export interface PlayingTickets {
  /** Adds a ticket whose players got the server's address. */
  add(record: TicketRecord, match: Match): void
  /** Removes players who have left the match. Returns the match's tickets. */
  leave(match: Match, playerIds: readonly string[]): readonly TicketRecord[]
  /** Removes a match that is over. Returns its tickets. */
  end(match: Match): readonly TicketRecord[]
  /** Returns the tickets of the matches that the player plays in. */
  ticketsOf(playerId: string): readonly TicketRecord[]
}

const NO_TICKETS: readonly never[] = []

export function createPlaying(): PlayingTickets {
  const players = createPlayerIndex()
  const byMatch = new Map<Match, TicketRecord[]>()
  return {
    add: (record, match) => {
      players.add(record)
      const others = byMatch.get(match)
      if (others === undefined) byMatch.set(match, [record])
      else others.push(record)
    },
    leave: (match, playerIds) => {
      const records = byMatch.get(match) ?? NO_TICKETS
      for (const record of records) players.remove(record, playerIds)
      return records
    },
    end: (match) => {
      const records = byMatch.get(match) ?? NO_TICKETS
      byMatch.delete(match)
      for (const record of records) players.remove(record)
      return records
    },
    ticketsOf: players.ticketsOf,
  }
}
