import type { Random } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import type { AllocationView } from '@muster/hosting/internal'
import type { InspectedMatch } from '../matches/index.js'
import type { BackfillTeam, PrivateMatch, Ticket } from '../tickets/index.js'
import type { BackfillBody, BackfillChangeBody, BackfillTeamBody, MatchBody } from './bodies.js'
import { assertOwnMatch, type MatchCaller } from './callers.js'
import { presentPlayer, type ReadPlayer, type RequestSender } from './read-player.js'
import type { BackfillView, PrivateMatchView } from './schemas.js'
import type { TicketService } from '../commands.js'
import { backfillView, existingServersId, parseSeatId, partyViews, type Dates } from './ticket-views.js'

type MatchService = Pick<
  TicketService,
  | 'createBackfill'
  | 'getBackfill'
  | 'updateBackfill'
  | 'cancelBackfill'
  | 'getTicket'
  | 'dateOf'
  | 'playersLeft'
  | 'inspect'
  | 'isSecretOf'
  | 'playerCame'
>

/** Tickets by the ids that a server sent; undefined for a ticket that is no longer known. */
type KnownTickets = ReadonlyMap<string, Ticket | undefined>

/** Ids of the players that a server reports as present; undefined if the players of a ticket are unknown. */
type PresentPlayers = readonly (readonly string[] | undefined)[]

const invalid = (field: string, message: string) => new Problem(400, 'invalid-input', `${field}: ${message}`, { field })

/** Creates the backfill commands of game servers. */
export function createBackfills(service: MatchService, random: Random) {
  const view = async (backfill: Parameters<typeof backfillView>[0]) => {
    const tickets = await Promise.all(backfill.tickets.map((id) => service.getTicket(id)))
    return backfillView(
      backfill,
      tickets.flatMap((ticket) => ticket ?? []),
      service,
    )
  }

  /** Returns the known tickets that a server names, by the ids that it uses. */
  const knownTickets = async (ids: readonly string[]): Promise<KnownTickets> => {
    const entries = ids.map(async (id) => [id, await service.getTicket(parseSeatId(id).ticketId)] as const)
    return new Map(await Promise.all(entries))
  }

  const matchOf = async (
    { match_id, tickets = {}, profile }: BackfillBody,
    known: KnownTickets,
  ): Promise<InspectedMatch> => {
    const given = Object.entries(tickets)
    if (match_id === undefined && given.length === 0) throw invalid('match_id', 'is required if there are no tickets')
    const { matches } = await service.inspect()
    // The tickets may also name an earlier match, whose server failed and is still being stopped.
    const running = matches.filter(({ phase }) => phase === 'running')
    const match =
      match_id === undefined
        ? (running.find((one) => given.some(([id]) => wasMatched(one, id))) ??
          running.find((one) => given.every(([id, ticket]) => cameLater(one, known.get(id), ticket))))
        : matches.find((one) => one.matchId === match_id)
    if (match === undefined) throw new Problem(404, 'not-found', 'There is no such match.')
    if (!given.every(([id, ticket]) => wasMatched(match, id) || cameLater(match, known.get(id), ticket))) {
      throw invalid('tickets', 'must all belong to one match')
    }
    if (profile !== undefined && profile !== match.queue) {
      throw invalid('profile', `must be ${JSON.stringify(match.queue)}, the queue of the match`)
    }
    return match
  }

  /**
   * Reports players who have left. Existing servers send the tickets of the players who are still there. All other
   * players of the match have left.
   */
  const reportLeft = async (match: AllocationView, present: PresentPlayers): Promise<void> => {
    // If the players of any ticket are unknown, nobody is reported as having left.
    if (present.length === 0 || present.includes(undefined)) return
    const there = new Set(present.flatMap((ids) => ids ?? []))
    const left = match.playerIds.filter((id) => !there.has(id))
    if (left.length > 0 && left.length < match.playerIds.length) await service.playersLeft(match.matchId, left)
  }

  /**
   * Reports that a player of the match has connected, if the server names any player as present. One player is enough.
   */
  const reportCame = async (
    { serverSecret }: MatchCaller,
    { matchId, playerIds }: Pick<AllocationView, 'matchId' | 'playerIds'>,
    present: PresentPlayers,
  ): Promise<void> => {
    const came = present.flatMap((ids) => ids ?? []).find((id) => playerIds.includes(id))
    if (serverSecret !== undefined && came !== undefined) await service.playerCame(matchId, serverSecret, came)
  }

  const isRepeated = async (id: string | undefined, { matchId }: InspectedMatch): Promise<boolean> =>
    id !== undefined && (await service.getBackfill(id))?.matchId === matchId

  const existing = async (id: string, caller: MatchCaller) => {
    const backfill = await service.getBackfill(id)
    if (backfill === undefined) throw new Problem(404, 'not-found', 'There is no such backfill.')
    await assertOwnMatch(backfill.matchId, caller, service)
    return backfill
  }

  return {
    create: async (body: BackfillBody, caller: MatchCaller): Promise<BackfillView> => {
      if (caller.serverSecret !== undefined && body.match_id === undefined)
        throw invalid('match_id', 'a server must send its own MM_MATCH_ID')
      await assertOwnMatch(body.match_id ?? '', caller, service)
      const teams = body.teams?.map(readTeam)
      const tickets = body.tickets ?? {}
      const known = await knownTickets(Object.keys(tickets))
      const match = await matchOf(body, known)
      const present = Object.entries(tickets).map(
        ([id, ticket]) => playersOf(ticket) ?? playersOfSeat(known.get(id), parseSeatId(id).index),
      )
      await reportCame(caller, match, [...present, inTeams(teams)])
      // The server may not know yet who joined through an open backfill, or before its request was repeated. Players
      // that it does not name may therefore be present.
      if (match.backfillId === undefined && !(await isRepeated(body.id, match))) await reportLeft(match, present)
      const isOfExisting = body.match_id === undefined && body.teams === undefined
      const backfill = await service.createBackfill({
        id: body.id ?? (isOfExisting ? existingServersId(random) : undefined),
        matchId: match.matchId,
        teams,
        ...(isOfExisting && { seats: 1 }),
        priority: body.priority,
      })
      return view(backfill)
    },
    read: async (id: string, caller: MatchCaller): Promise<BackfillView> => view(await existing(id, caller)),
    update: async (
      id: string,
      { version, teams: given }: BackfillChangeBody,
      caller: MatchCaller,
    ): Promise<BackfillView> => {
      const teams = given.map(readTeam)
      if (caller.serverSecret !== undefined) {
        const { matchId } = await existing(id, caller)
        const present = inTeams(teams)
        const { matches } = present.length > 0 ? await service.inspect() : { matches: [] }
        const match = matches.find((one) => one.matchId === matchId)
        if (match !== undefined) await reportCame(caller, match, [present])
      }
      return view(await service.updateBackfill(id, { version, teams }))
    },
    cancel: async (id: string, caller: MatchCaller): Promise<void> => {
      await existing(id, caller)
      await service.cancelBackfill(id)
    },
  }
}

/**
 * True if a ticket joined the match after it began. A ticket that is no longer known counts if one of its players is in
 * the match.
 */
function cameLater({ matchId, playerIds }: AllocationView, known: Ticket | undefined, ticket: unknown): boolean {
  if (known !== undefined) return known.matchId === matchId
  return playersOf(ticket)?.some((player) => playerIds.includes(player)) ?? false
}

const playersOfSeat = (ticket: Ticket | undefined, index: number | undefined): readonly string[] | undefined =>
  ticket?.players.filter((_, at) => index === undefined || index === at).map((player) => player.id)

const wasMatched = ({ ticketIds }: AllocationView, id: string): boolean => ticketIds.includes(parseSeatId(id).ticketId)

const inTeams = (teams: readonly BackfillTeam[] = []): readonly string[] =>
  teams.flatMap(({ players = [] }) => players.map(({ id }) => id))

const readTeam = ({ name, slots, players }: BackfillTeamBody): BackfillTeam => ({
  name,
  slots,
  players: players?.map(presentPlayer),
})

/**
 * Returns the player ids of a ticket. The ticket has the form of this API, or the form of a server's variables
 * (MM_TICKET_…).
 */
function playersOf(ticket: unknown): readonly string[] | undefined {
  if (typeof ticket !== 'object' || ticket === null) return undefined
  const { player_id: one, players } = ticket as { readonly player_id?: unknown; readonly players?: unknown }
  if (typeof one === 'string') return [one]
  return Array.isArray(players) && players.every((id) => typeof id === 'string') ? players : undefined
}

/** Creates the function that makes a match of given players, for backends. */
export const createMatchMaking =
  (service: Pick<TicketService, 'createMatch' | 'dateOf'>, readPlayer: ReadPlayer) =>
  async (
    { id, profile, teams, skip_acceptance: skipAcceptance }: MatchBody,
    sender: RequestSender,
  ): Promise<PrivateMatchView> => {
    const read = teams.map(async ({ name, players }) => ({
      name,
      players: await Promise.all(players.map((player) => readPlayer(player, sender, [profile]))),
    }))
    const match = await service.createMatch({ id, queue: profile, teams: await Promise.all(read), skipAcceptance })
    return matchView(match, profile, service)
  }

const matchView = ({ id, tickets }: PrivateMatch, profile: string, dates: Dates): PrivateMatchView => ({
  id,
  profile,
  match_id: tickets.find(({ matchId }) => matchId !== undefined)?.matchId ?? null,
  player_tickets: tickets.flatMap((ticket) => partyViews(ticket, dates)),
})
