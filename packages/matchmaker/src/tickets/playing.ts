import { createPlayerIndex } from './player-index.js'
import type { Match, TicketRecord } from './records.js'

/** The tickets of matches that run, and who of their players is still there. */
export interface Playing {
  /** The ticket's players were told where to connect. */
  add(record: TicketRecord, match: Match): void
  /** These players have left the match. */
  leave(match: Match, playerIds: readonly string[]): void
  /** The match is over. Returns the tickets that were in it. */
  end(match: Match): readonly TicketRecord[]
  /** The tickets of the matches that the player plays in. */
  ticketsOf(playerId: string): readonly TicketRecord[]
}

const NONE: readonly never[] = []

export function createPlaying(): Playing {
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
      for (const record of byMatch.get(match) ?? NONE) players.remove(record, playerIds)
    },
    end: (match) => {
      const records = byMatch.get(match) ?? NONE
      byMatch.delete(match)
      for (const record of records) players.remove(record)
      return records
    },
    ticketsOf: players.ticketsOf,
  }
}
