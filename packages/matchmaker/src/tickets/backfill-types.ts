// pure: who is in a match, and who is missing
import type { TeamShape } from '@muster/kernel'
import type { Player } from '@muster/hosting/internal'
import type { RuleTicket } from '../queues/index.js'

/** A request for more players in a running match. */
export interface BackfillInput {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. Creating the same backfill twice is creating it once. Default: a new one. */
  readonly id?: string | undefined
  /** A match of this matchmaker whose server runs. */
  readonly matchId: string
  /**
   * The teams that take players, by the name they have in the match. Default: every team, with as many slots as players
   * have left it (see `playersLeft`) or never came. Required for a match of several teams that an earlier process made,
   * each team with `slots` or `players`, because its teams are not known.
   */
  readonly teams?: readonly BackfillTeam[] | undefined
  /** So many players at most in all, first of the teams that lack most. Default: all of them. */
  readonly seats?: number | undefined
  /** Like that of a ticket. Default 0. */
  readonly priority?: number | undefined
}

export interface BackfillTeam {
  readonly name: string
  /** How many more players it takes. Default: as many as it lacks. */
  readonly slots?: number | undefined
  /** Who is in it: rules count them. Default: those who were matched and did not leave. */
  readonly players?: readonly Player[] | undefined
}

/** What changes a backfill. */
export interface BackfillChange {
  /** The version of the backfill that you know. If the backfill has changed since, nothing is done. */
  readonly version: number
  readonly teams: readonly BackfillTeam[]
}

/** OPEN while it takes players; then FILLED, or CANCELLED by `cancelBackfill` or the end of its match. */
export type BackfillStatus = 'OPEN' | 'FILLED' | 'CANCELLED'

/** A snapshot of a backfill. It holds no address. */
export interface Backfill {
  readonly id: string
  /** Grows by 1 with every change; 1 at first. */
  readonly version: number
  readonly matchId: string
  readonly queue: string
  readonly status: BackfillStatus
  /**
   * Epoch milliseconds. Rules relax with its waiting time as they do with that of a ticket, from where they were when
   * the match was found (at the strictest, if an earlier process found it).
   */
  readonly createdAt: number
  readonly teams: readonly { readonly name: string; readonly slots: number; readonly players: readonly string[] }[]
  /** Ids of the tickets that joined the match through this backfill. */
  readonly tickets: readonly string[]
}

/** A ticket of a match, and the index of its team. */
export interface Placed {
  readonly ticket: RuleTicket
  readonly team: number
}

/** For each team of a match, the tickets in it. */
export type Present = readonly (readonly RuleTicket[])[]

/** For each team of a match: how many more players it takes, and the tickets in it. */
export interface Vacancies {
  readonly rooms: readonly number[]
  readonly present: Present
}

export const countPlayers = (tickets: readonly RuleTicket[]): number =>
  tickets.reduce((sum, { players }) => sum + players.length, 0)

const inTeam = (placed: readonly Placed[], team: number) =>
  placed.flatMap((one) => (one.team === team ? [one.ticket] : []))

export const presentIn = (teams: readonly TeamShape[], placed: readonly Placed[]): Present =>
  teams.map((_, team) => inTeam(placed, team))

/** How many players each team lacks. */
export const roomsBeside = (teams: readonly TeamShape[], present: Present): number[] =>
  teams.map(({ max }, team) => Math.max(0, max - countPlayers(present[team] ?? [])))

/** The vacancies after tickets have joined. */
export const filled = ({ rooms, present }: Vacancies, placed: readonly Placed[]): Vacancies => ({
  rooms: rooms.map((room, team) => Math.max(0, room - countPlayers(inTeam(placed, team)))),
  present: present.map((tickets, team) => [...tickets, ...inTeam(placed, team)]),
})

/** The vacancies after tickets have left that are to be replaced. */
export const vacated = ({ rooms, present }: Vacancies, placed: readonly Placed[]): Vacancies => {
  const gone = new Set(placed.map(({ ticket }) => ticket))
  return {
    rooms: rooms.map((room, team) => room + countPlayers(inTeam(placed, team))),
    present: present.map((tickets) => tickets.filter((ticket) => !gone.has(ticket))),
  }
}

/** The ticket without these players; undefined if nobody is left. */
const withoutPlayers = (ticket: RuleTicket, gone: ReadonlySet<string>): RuleTicket | undefined => {
  const players = ticket.players.filter(({ id }) => !gone.has(id))
  if (players.length === ticket.players.length) return ticket
  return players.length === 0 ? undefined : { ...ticket, players }
}

/** The vacancies after players have left the running match: the place of each who counted as present is free. */
export function deserted(
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

/** The tickets in the match without these players. */
export const remaining = (placed: readonly Placed[], gone: ReadonlySet<string>): Placed[] =>
  placed.flatMap(({ ticket, team }) => {
    const left = withoutPlayers(ticket, gone)
    return left === undefined ? [] : [{ ticket: left, team }]
  })
