// pure: the present and the missing players of a match
import type { TeamShape } from '@muster/kernel'
import type { Player } from '@muster/hosting/internal'
import type { RuleTicket } from '../queues/index.js'

/** A request for more players in a running match. */
export interface BackfillInput {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. Repeating a create has no effect. Default: a new id. */
  readonly id?: string | undefined
  /** A match of this matchmaker whose server runs. */
  readonly matchId: string
  /**
   * The teams that take players, by their name in the match. Default: every team, with a slot for each player who has
   * left (see `playersLeft`) or never came. If an earlier process made a match of several teams, its teams are unknown:
   * then this is required, with `slots` or `players` for each team.
   */
  readonly teams?: readonly BackfillTeam[] | undefined
  /** Maximum number of players in total, first for the teams that lack most. Default: no maximum. */
  readonly seats?: number | undefined
  /** Priority among tickets and backfills; see `TicketInput.priority`. Default 0. */
  readonly priority?: number | undefined
}

export interface BackfillTeam {
  readonly name: string
  /** Number of further players that the team takes. Default: all players that it lacks. */
  readonly slots?: number | undefined
  /** The present players of the team, which rules count. Default: the players who were matched and did not leave. */
  readonly players?: readonly Player[] | undefined
}

/** A change of a backfill. */
export interface BackfillChange {
  /** The version of the backfill that you know. If the backfill has changed since, the update is refused. */
  readonly version: number
  readonly teams: readonly BackfillTeam[]
}

/**
 * The state of a backfill:
 * - OPEN: takes players;
 * - FILLED: no slot is open, because players joined or an update left none;
 * - CANCELLED: by `cancelBackfill`, by a game server's report that closes its seats, by the end of the match, or
 *   because the queue can no longer serve the backfill. The last may happen after `reconfigure`, a restart or takeover,
 *   or a change of the match's players.
 */
export type BackfillStatus = 'OPEN' | 'FILLED' | 'CANCELLED'

/** A snapshot of a backfill, without addresses. */
export interface Backfill {
  readonly id: string
  /** Raised by 1 with every change; 1 at first. */
  readonly version: number
  readonly matchId: string
  readonly queue: string
  readonly status: BackfillStatus
  /**
   * Epoch milliseconds at which the backfill was created. Rules relax with its waiting time, as with that of a ticket.
   * They start at the step of the match, or at the strictest step if an earlier process found the match.
   */
  readonly createdAt: number
  readonly teams: readonly { readonly name: string; readonly slots: number; readonly players: readonly string[] }[]
  /** Ids of the tickets that joined the match through this backfill. */
  readonly tickets: readonly string[]
}

/** A ticket of a match, and the index of its team. */
export interface PlacedTicket {
  readonly ticket: RuleTicket
  readonly team: number
}

/** For each team of a match, the tickets in it. */
export type PresentTeams = readonly (readonly RuleTicket[])[]

/** For each team of a match: number of further players that it takes, and the tickets in it. */
export interface Vacancies {
  readonly rooms: readonly number[]
  readonly present: PresentTeams
}

export const countPlayers = (tickets: readonly RuleTicket[]): number =>
  tickets.reduce((sum, { players }) => sum + players.length, 0)

const inTeam = (placed: readonly PlacedTicket[], team: number) =>
  placed.flatMap((one) => (one.team === team ? [one.ticket] : []))

export const presentIn = (teams: readonly TeamShape[], placed: readonly PlacedTicket[]): PresentTeams =>
  teams.map((_, team) => inTeam(placed, team))

/** Returns the number of players that each team lacks. */
export const roomsBeside = (teams: readonly TeamShape[], present: PresentTeams): number[] =>
  teams.map(({ max }, team) => Math.max(0, max - countPlayers(present[team] ?? [])))

/** Returns the vacancies after tickets have joined. */
export const filled = ({ rooms, present }: Vacancies, placed: readonly PlacedTicket[]): Vacancies => ({
  rooms: rooms.map((room, team) => Math.max(0, room - countPlayers(inTeam(placed, team)))),
  present: present.map((tickets, team) => [...tickets, ...inTeam(placed, team)]),
})

/** Returns the vacancies after tickets have left that need replacement. */
export const vacated = ({ rooms, present }: Vacancies, placed: readonly PlacedTicket[]): Vacancies => {
  const gone = new Set(placed.map(({ ticket }) => ticket))
  return {
    rooms: rooms.map((room, team) => room + countPlayers(inTeam(placed, team))),
    present: present.map((tickets) => tickets.filter((ticket) => !gone.has(ticket))),
  }
}

/** Returns the ticket without these players; undefined if none remains. */
const withoutPlayers = (ticket: RuleTicket, gone: ReadonlySet<string>): RuleTicket | undefined => {
  const players = ticket.players.filter(({ id }) => !gone.has(id))
  if (players.length === ticket.players.length) return ticket
  return players.length === 0 ? undefined : { ...ticket, players }
}

/**
 * Returns the vacancies after players have left the running match. The places of leavers who counted as present become
 * free.
 */
export function vacanciesAfterLeaving(
  { rooms, present }: Vacancies,
  teams: readonly TeamShape[],
  gone: ReadonlySet<string>,
): Vacancies {
  const left = present.map((tickets) => tickets.flatMap((ticket) => withoutPlayers(ticket, gone) ?? []))
  const free = roomsBeside(teams, left)
  const freed = (team: number) => countPlayers(present[team] ?? []) - countPlayers(left[team] ?? [])
  return {
    rooms: rooms.map((room, team) => Math.max(room, Math.min(room + freed(team), free[team] ?? 0))),
    present: left,
  }
}

/** Returns the tickets in the match without these players. A ticket without any other player is left out. */
export const remaining = (placed: readonly PlacedTicket[], gone: ReadonlySet<string>): PlacedTicket[] =>
  placed.flatMap(({ ticket, team }) => {
    const left = withoutPlayers(ticket, gone)
    return left === undefined ? [] : [{ ticket: left, team }]
  })
