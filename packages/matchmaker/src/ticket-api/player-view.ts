// pure: what a player is in, as clients of the ticket API see it
import type { FoundPlayer } from '../matches/matchmaker.js'
import type { MemberView } from './group-views.js'
import type { LobbyOfPlayer } from './options.js'
import { seatId } from './seats.js'
import { assignmentView, ticketView, type AssignmentView, type Estimating, type TicketView } from './views.js'

/** A match that runs, and where its players connect. */
export interface RunningMatchView {
  readonly match_id: string
  readonly profile: string
  readonly team_id: string | null
  /** The player's ticket; null if an earlier process made the match, so that its tickets are not known. */
  readonly ticket_id: string | null
  readonly assignment: AssignmentView | null
}

/** What a player is in. */
export interface PlayerView {
  readonly player_id: string
  readonly tickets: readonly TicketView[]
  readonly groups: readonly MemberView[]
  readonly matches: readonly RunningMatchView[]
  /** null while they cannot be read. */
  readonly lobbies: readonly { readonly lobby_id: string; readonly phase: string }[] | null
}

export interface PlayerParts {
  readonly found: FoundPlayer
  readonly estimating: Estimating
  readonly groups: readonly MemberView[]
  readonly lobbies: readonly LobbyOfPlayer[] | undefined
}

/** The view for the player: of each ticket the player's own seat. */
export function playerView(playerId: string, { found, estimating, groups, lobbies }: PlayerParts): PlayerView {
  const tickets = found.tickets.flatMap((ticket) => {
    const index = ticket.players.findIndex(({ id }) => id === playerId)
    return index === -1 ? [] : ticketView({ ticket, index }, estimating)
  })
  return {
    player_id: playerId,
    tickets,
    groups,
    matches: [...tickets.flatMap(matchOfTicket), ...matchWithoutTicket(found)],
    lobbies: lobbies === undefined ? null : lobbies.map(({ lobbyId, phase }) => ({ lobby_id: lobbyId, phase })),
  }
}

const matchOfTicket = ({ status, ended, ...ticket }: TicketView): RunningMatchView[] => {
  const { match_id, profile, team_id, id, assignment } = ticket
  const isRunning = status === 'HOST_ASSIGNED' && ended === undefined
  return isRunning && match_id !== null ? [{ match_id, profile, team_id, ticket_id: id, assignment }] : []
}

const matchWithoutTicket = ({ match }: FoundPlayer): RunningMatchView[] =>
  match === undefined
    ? []
    : [
        {
          match_id: match.matchId,
          profile: match.queue,
          team_id: null,
          ticket_id: null,
          assignment: match.assignment === undefined ? null : assignmentView(match.assignment),
        },
      ]

/** Whether a player may come to the server of a match. */
export interface PlayerInMatchView {
  readonly player_id: string
  readonly is_expected: boolean
  /** null where an earlier process made the match, so that its tickets are not known. */
  readonly team_id: string | null
  readonly ticket_id: string | null
}

export function playerInMatch(playerId: string, matchId: string, found: FoundPlayer): PlayerInMatchView {
  for (const ticket of found.tickets) {
    const index = ticket.players.findIndex(({ id }) => id === playerId)
    if (ticket.matchId !== matchId || ticket.ended !== undefined || index === -1) continue
    const ticket_id = seatId({ ticket, index })
    return { player_id: playerId, is_expected: true, team_id: ticket.team ?? null, ticket_id }
  }
  return { player_id: playerId, is_expected: found.match?.matchId === matchId, team_id: null, ticket_id: null }
}
