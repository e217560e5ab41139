import { Problem } from '@muster/core/http'
import { LRUCache } from 'lru-cache'
import type { AllocationView } from '../servers/records/allocation.js'
import type { BackfillTeam } from '../tickets/backfill.js'
import type { BackfillBody, BackfillTeamBody } from './bodies.js'
import { presentPlayer } from './players.js'
import { parseSeatId } from './seats.js'
import type { TicketService } from './service.js'
import { backfillView, type BackfillView } from './views.js'

/** The backfill commands of game servers. */
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

/** Most matches whose latest backfill is remembered. */
const MATCHES_KEPT = 10_000

const invalid = (field: string, message: string) => new Problem(400, 'invalid-input', `${field}: ${message}`, { field })

export function createBackfills(service: Service): Backfills {
  const view = (backfill: Parameters<typeof backfillView>[0]) =>
    backfillView(
      backfill,
      backfill.tickets.flatMap((id) => service.getTicket(id) ?? []),
    )

  /** Whether a ticket joined the match after it began. For a ticket that is no longer known, its players decide. */
  const cameLater = ({ matchId, playerIds }: AllocationView, id: string, ticket: unknown): boolean => {
    const known = service.getTicket(parseSeatId(id).ticketId)
    if (known !== undefined) return known.matchId === matchId
    return playersOf(ticket)?.some((player) => playerIds.includes(player)) ?? false
  }

  const matchOf = ({ match_id, tickets = {}, profile }: BackfillBody): AllocationView => {
    const given = Object.entries(tickets)
    if (match_id === undefined && given.length === 0) throw invalid('match_id', 'must be given, or tickets')
    const { matches } = service.inspect()
    // The tickets may also name an earlier match, whose server failed and is still being stopped.
    const running = matches.filter(({ phase }) => phase === 'running')
    const match =
      match_id === undefined
        ? (running.find((one) => given.some(([id]) => wasMatched(one, id))) ??
          running.find((one) => given.every(([id, ticket]) => cameLater(one, id, ticket))))
        : matches.find((one) => one.matchId === match_id)
    if (match === undefined) throw new Problem(404, 'not-found', 'there is no such match')
    if (!given.every(([id, ticket]) => wasMatched(match, id) || cameLater(match, id, ticket))) {
      throw invalid('tickets', 'must be of one match')
    }
    if (profile !== undefined && profile !== match.queue) {
      throw invalid('profile', `the match is of ${JSON.stringify(match.queue)}`)
    }
    return match
  }

  /**
   * Reports players who have left. Existing servers name the players who are still there by the tickets that they send;
   * all others of the match have left.
   */
  const reportLeft = (match: AllocationView, tickets: Readonly<Record<string, unknown>>) => {
    const present = Object.entries(tickets).map(([id, ticket]) => playersOf(ticket) ?? playersOfKnown(id))
    // If the players of any ticket are unknown, nobody is reported as having left.
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

  /** Id of the latest backfill of each match. */
  const latest = new LRUCache<string, string>({ max: MATCHES_KEPT })
  const hasOpen = ({ matchId }: AllocationView): boolean =>
    service.getBackfill(latest.get(matchId) ?? '')?.status === 'OPEN'

  const known = (id: string) => {
    const backfill = service.getBackfill(id)
    if (backfill === undefined) throw new Problem(404, 'not-found', 'there is no such backfill')
    return backfill
  }

  return {
    create: (body) => {
      const teams = body.teams?.map(readTeam)
      const match = matchOf(body)
      // While a backfill is open, the server may not know yet who joined through it, so its tickets prove nothing.
      if (!hasOpen(match)) reportLeft(match, body.tickets ?? {})
      const backfill = service.createBackfill({ id: body.id, matchId: match.matchId, teams, priority: body.priority })
      latest.set(match.matchId, backfill.id)
      return view(backfill)
    },
    read: (id) => view(known(id)),
    update: (id, version, teams) => view(service.updateBackfill(id, { version, teams: teams.map(readTeam) })),
    cancel: (id) => {
      known(id)
      service.cancelBackfill(id)
    },
  }
}

const wasMatched = ({ ticketIds }: AllocationView, id: string): boolean => ticketIds.includes(parseSeatId(id).ticketId)

const readTeam = ({ name, slots, players }: BackfillTeamBody): BackfillTeam => ({
  name,
  slots,
  players: players?.map(presentPlayer),
})

/** Player ids of a ticket in the form of this API, or as the server finds it in its variables (MM_TICKET_…). */
function playersOf(ticket: unknown): readonly string[] | undefined {
  if (typeof ticket !== 'object' || ticket === null) return undefined
  const { player_id: one, players } = ticket as { readonly player_id?: unknown; readonly players?: unknown }
  if (typeof one === 'string') return [one]
  return Array.isArray(players) && players.every((id) => typeof id === 'string') ? players : undefined
}
