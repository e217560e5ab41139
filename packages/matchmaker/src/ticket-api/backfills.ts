import { Problem } from '@muster/core/http'
import type { MatchView } from '../allocation/match.js'
import type { BackfillTeam } from '../backfill/backfill.js'
import type { BackfillBody, BackfillTeamBody } from './bodies.js'
import { presentPlayer } from './players.js'
import { parseSeatId } from './seats.js'
import type { TicketService } from './service.js'
import { backfillView, type BackfillView } from './views.js'

/** Everything that game servers do with backfills. */
export interface Backfills {
  create(body: BackfillBody): BackfillView
  read(id: string): BackfillView
  update(id: string, version: number, teams: readonly BackfillTeamBody[]): BackfillView
  cancel(id: string): void
}

type Service = Pick<
  TicketService,
  'createBackfill' | 'getBackfill' | 'updateBackfill' | 'cancelBackfill' | 'getTicket' | 'playersLeft' | 'inspect'
>

const invalid = (field: string, message: string) => new Problem(400, 'invalid-input', `${field}: ${message}`, { field })

export function createBackfills(service: Service): Backfills {
  const view = (backfill: Parameters<typeof backfillView>[0]) =>
    backfillView(backfill, backfill.tickets.flatMap((id) => service.getTicket(id) ?? []))

  const matchOf = ({ match_id, tickets = {}, profile }: BackfillBody): MatchView => {
    const ticketIds = Object.keys(tickets).map((id) => parseSeatId(id).ticketId)
    if (match_id === undefined && ticketIds.length === 0) throw invalid('match_id', 'must be given, or tickets')
    const match = service
      .inspect()
      .matches.find((one) => (match_id === undefined ? one.ticketIds.includes(ticketIds[0] as string) : one.matchId === match_id))
    if (match === undefined) throw new Problem(404, 'not-found', 'there is no such match')
    if (!ticketIds.every((id) => match.ticketIds.includes(id))) throw invalid('tickets', 'must be of one match')
    if (profile !== undefined && profile !== match.queue) {
      throw invalid(
        'profile',
        `the match is of ${JSON.stringify(match.queue)}`,
      )
    }
    return match
  }

  /** Existing servers say who is still there by the tickets that they send, and whoever is missing has left. */
  const reportLeft = (match: MatchView, tickets: Readonly<Record<string, unknown>>) => {
    const present = Object.entries(tickets).map(([id, ticket]) => playersOf(ticket) ?? playersOfKnown(id))
    // Where the players of a ticket are not known any more, nobody is thrown out.
    if (present.length === 0 || present.includes(undefined)) return
    const there = new Set(present.flatMap((ids) => ids ?? []))
    const left = match.playerIds.filter((id) => !there.has(id))
    if (left.length > 0 && left.length < match.playerIds.length) service.playersLeft(match.matchId, left)
  }
  const playersOfKnown = (id: string): readonly string[] | undefined => {
    const { ticketId, index } = parseSeatId(id)
    const ticket = service.getTicket(ticketId)
    return ticket?.players.filter((_, at) => index === undefined || index === at).map((player) => player.id)
  }

  const known = (id: string) => {
    const backfill = service.getBackfill(id)
    if (backfill === undefined) throw new Problem(404, 'not-found', 'there is no such backfill')
    return backfill
  }

  return {
    create: (body) => {
      const teams = body.teams?.map(readTeam)
      const match = matchOf(body)
      reportLeft(match, body.tickets ?? {})
      return view(service.createBackfill({ id: body.id, matchId: match.matchId, teams, priority: body.priority }))
    },
    read: (id) => view(known(id)),
    update: (id, version, teams) => view(service.updateBackfill(id, { version, teams: teams.map(readTeam) })),
    cancel: (id) => {
      known(id)
      service.cancelBackfill(id)
    },
  }
}

const readTeam = (
  { name, slots, players }: BackfillTeamBody
): BackfillTeam => ({ name, slots, players: players?.map(presentPlayer) })

/** The players of a ticket as this API gives it, or as the server finds it in its variables (MM_TICKET_…). */
function playersOf(ticket: unknown): readonly string[] | undefined {
  if (typeof ticket !== 'object' || ticket === null) return undefined
  const { player_id: one, players } = ticket as { readonly player_id?: unknown; readonly players?: unknown }
  if (typeof one === 'string') return [one]
  return Array.isArray(players) && players.every((id) => typeof id === 'string') ? players : undefined
}
