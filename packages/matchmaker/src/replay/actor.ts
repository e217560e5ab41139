import type { Matchmaker } from '../matches/matchmaker.js'
import type { RecordedLine, RecordedTeam, RecordedTicket } from './lines.js'
import type { Outcomes } from './outcomes.js'
import { playerOf } from './recorded-player.js'

/** Repeats the commands of a recording on a matchmaker. */
export interface Actor {
  act(line: RecordedLine): void
  readonly refused: readonly { readonly ticketId: string; readonly error: Error }[]
  /** Number of lines that had no effect. */
  readonly skipped: number
}

export function createActor(matchmaker: Matchmaker, outcomes: Outcomes): Actor {
  const refused: { ticketId: string; error: Error }[] = []
  let skipped = 0

  const create = ({ id, queues, players, priority, createdAt }: RecordedTicket, at: number) => {
    if (matchmaker.getTicket(id) !== undefined) return
    const ticket = { id, queues, players: players.map(playerOf), priority }
    outcomes.expect(ticket, createdAt)
    try {
      if (createdAt >= at) return void matchmaker.createTicket(ticket)
      const snapshot = {
        format: 'muster-tickets-1',
        exportedAt: at,
        tickets: [{ ...ticket, createdAt, attempts: 0 }],
      } as const
      const [failure] = matchmaker.importTickets(snapshot).refused
      if (failure !== undefined) throw failure.error
    } catch (error) {
      outcomes.forget(id)
      refused.push({ ticketId: id, error: error as Error })
    }
  }

  /**
   * The matches in which these players play now, with the players of each. Players of one recorded match may be in
   * several matches here, and the other way round.
   */
  const matchesOf = (playerIds: readonly string[]): Map<string, string[]> => {
    const matches = new Map<string, string[]>()
    for (const id of playerIds) {
      const matchId = outcomes.matchOf(id)
      if (matchId !== undefined) matches.set(matchId, [...(matches.get(matchId) ?? []), id])
    }
    return matches
  }
  const leave = (playerIds: readonly string[]) => {
    const matches = matchesOf(playerIds)
    if (matches.size === 0) skipped += 1
    for (const [matchId, left] of matches) {
      outcomes.left(left)
      matchmaker.playersLeft(matchId, left)
    }
  }

  const teamsOf = (teams: readonly RecordedTeam[]) =>
    teams.map(({ players, ...team }) => (players === undefined ? team : { ...team, players: players.map(playerOf) }))

  const ask = (line: RecordedLine): void => {
    switch (line.kind) {
      case 'start':
        return
      case 'create':
        return create(line.ticket, line.at)
      case 'cancel':
        return void matchmaker.cancelTicket(line.ticketId)
      case 'accept':
        return void matchmaker.acceptMatch(line.ticketId, line.playerId)
      case 'decline':
        return void matchmaker.declineMatch(line.ticketId, line.playerId)
      case 'left':
        return leave(line.playerIds)
      case 'stop':
        return leave(line.ticketIds.flatMap((id) => outcomes.playersOf(id)))
      case 'backfill': {
        const { id, teams, priority } = line.backfill
        const [matchId = ''] = matchesOf(line.ticketIds.flatMap((ticketId) => outcomes.playersOf(ticketId))).keys()
        return void matchmaker.createBackfill({ id, matchId, teams: teams && teamsOf(teams), priority })
      }
      case 'backfillChange': {
        const version = matchmaker.getBackfill(line.id)?.version ?? 0
        return void matchmaker.updateBackfill(line.id, { version, teams: teamsOf(line.teams) })
      }
      case 'backfillCancel':
        return void matchmaker.cancelBackfill(line.id)
    }
  }

  return {
    act: (line) => {
      try {
        ask(line)
      } catch {
        // The command came too late, or concerns a match that differs here.
        skipped += 1
      }
    },
    refused,
    get skipped() {
      return skipped
    },
  }
}
