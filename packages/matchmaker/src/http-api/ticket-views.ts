// In this API, each player of a party has a ticket of their own, whose id is called a seat id. Seats on listed servers
// are something else.
import type { Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import type { Assignment, SeatGrant } from '@muster/hosting/internal'
import type { Matchmaker, QueueWait } from '../matches/index.js'
import { type Backfill, type BackfillStatus, seatIdOf, type Ticket, type TicketStatus } from '../tickets/index.js'
import type { WaitEstimate } from '../wait-times/index.js'
import type { AssignmentView, BackfillView, EstimatedWaitView, QueueWaitView, SeatView, TicketView } from './schemas.js'

/**
 * The ticket of one player. For the matchmaker a party is one ticket; for clients of this API each player has a ticket.
 * A single player's ticket keeps its id; those of a party have the ids `<id>.0`, `<id>.1` and so on, in the party's
 * order.
 */
export interface PlayerTicket {
  readonly ticket: Ticket
  /** Index of the player in the ticket. */
  readonly index: number
}

export const seatId = ({ ticket, index }: PlayerTicket): string => seatIdOf(ticket, index)

/** Returns the ticket and the player's index that a seat id names. The index is undefined for the id of a party. */
export function parseSeatId(id: string): { readonly ticketId: string; readonly index: number | undefined } {
  const dot = id.indexOf('.')
  if (dot === -1) return { ticketId: id, index: undefined }
  const index = /^(?:0|[1-9]\d{0,2})$/.test(id.slice(dot + 1)) ? Number(id.slice(dot + 1)) : -1
  return { ticketId: id.slice(0, dot), index }
}

/**
 * Returns the seat that an id names for a caller; undefined if it names none that the caller may see. The id of a party
 * names the caller's own seat.
 * @param index of the player, as `parseSeatId` returns it; undefined for the id of a party.
 * @param isSelf tells whether a player is the caller. If undefined, the caller may see all seats, and the id of a party
 *   names the first.
 */
export function seatOf(
  ticket: Ticket,
  index: number | undefined,
  isSelf: ((playerId: string) => boolean) | undefined,
): PlayerTicket | undefined {
  const { players } = ticket
  if (index === undefined) {
    const own = isSelf === undefined ? 0 : players.findIndex(({ id }) => isSelf(id))
    return own === -1 ? undefined : { ticket, index: own }
  }
  const player = players.length === 1 ? undefined : players[index]
  return player === undefined || isSelf?.(player.id) === false ? undefined : { ticket, index }
}

const estimatedWaitView = (estimate: WaitEstimate | undefined): EstimatedWaitView | null =>
  estimate === undefined
    ? null
    : {
        p50_seconds: inSeconds(estimate.p50Ms),
        p90_seconds: estimate.p90Ms === undefined ? null : inSeconds(estimate.p90Ms),
      }

/** Returns seconds, rounded to a tenth, because waits of less than a second are common in many queues. */
const inSeconds = (ms: number) => Math.round(ms / 100) / 10

/**
 * Returns the view of a queue's waits.
 * @param shown maps a number of waiting tickets or players to the number that the caller may see.
 */
export const queueWaitView = (
  { queue, tickets, players, paused, estimate }: QueueWait,
  shown: (count: number) => number,
): QueueWaitView => ({
  profile: queue,
  tickets_waiting: shown(tickets),
  players_waiting: shown(players),
  paused,
  estimated_wait: estimatedWaitView(estimate),
})

/** The last converted time and its string. They are cached because many tickets are created in one millisecond. */
let last = { at: 0, text: new Date(0).toISOString() }

/** Returns the ISO string of a time, in whole milliseconds. @param time epoch milliseconds, with fractions. */
export function isoTime(time: number): string {
  const at = Math.trunc(time)
  if (at !== last.at) last = { at, text: new Date(at).toISOString() }
  return last.text
}

/** Returns the fields of these names, in their order. Missing fields become null. */
export const orNull = <T extends object, Name extends keyof T>(from: T, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, from[name] ?? null])) as {
    [Key in Name]-?: NonNullable<T[Key]> | null
  }

export function assignmentView({ fqdn, publicIp, ports, location, promised }: Assignment): AssignmentView {
  return {
    fqdn,
    public_ip: publicIp ?? null,
    ports: Object.fromEntries(
      Object.entries(ports).map(([name, port]) => [name, orNull(port, 'internal', 'external', 'link', 'protocol')]),
    ),
    location:
      location === undefined
        ? null
        : {
            ...orNull(location, 'city', 'country', 'continent'),
            administrative_division: location.administrativeDivision ?? null,
            ...orNull(location, 'timezone', 'latitude', 'longitude'),
          },
    promised: promised === undefined ? null : { beacon: promised.beacon, latency_ms: promised.latencyMs ?? null },
  }
}

/** Returns the view of a seat. It is for the seat's player only, because it contains the join token. */
export const seatView = (seat: SeatGrant, dates: Dates): SeatView => ({
  seat_id: seat.id,
  server_id: seat.serverId,
  player_id: seat.playerId,
  team_id: seat.team === '' ? null : seat.team,
  status: seat.state,
  until: seat.until === undefined ? null : isoTime(dates.dateOf(seat.until)),
  assignment: seat.assignment === undefined ? null : { ...assignmentView(seat.assignment), join_token: seat.joinToken },
})

/** Converts a time of the service to a date. */
export type Dates = Pick<Matchmaker, 'dateOf'>

/**
 * Returns the current time by the clock of the matchmaker's times, in epoch milliseconds. With a store, that clock
 * continues the clock of the earlier process, so it may differ from the clock of this process.
 */
export const timeBy = (dates: Dates): number => dates.dateOf() - dates.dateOf(0)

/** Estimates the remaining wait of tickets, and creates the tokens of players who join a match. */
export type Estimating = Pick<Matchmaker, 'estimateWait' | 'joinToken'>

/**
 * Returns the view of one player's ticket.
 * @param estimating if undefined, the view has neither an estimated wait nor a join token. The join token is for the
 *   player of the seat only.
 */
export function ticketView(seat: PlayerTicket, dates: Dates, estimating?: Estimating): TicketView {
  const { ticket, index } = seat
  const { queues, acceptance } = ticket
  const playerId = ticket.players[index]?.id ?? ''
  return {
    id: seatId(seat),
    profile: ticket.queue ?? queues[0] ?? '',
    created_at: isoTime(dates.dateOf(ticket.createdAt)),
    status: ticket.status,
    group_id: ticket.id,
    team_id: ticket.team ?? null,
    match_id: ticket.matchId ?? null,
    assignment:
      ticket.assignment === undefined
        ? null
        : { ...assignmentView(ticket.assignment), join_token: estimating?.joinToken(ticket, playerId) },
    player_id: playerId,
    version: ticket.version,
    profiles: queues.length > 1 ? [...queues] : undefined,
    waiting_for: ticket.waitingFor,
    acceptance: acceptance && {
      until: isoTime(dates.dateOf(acceptance.until)),
      accepted: acceptance.accepted.includes(playerId),
    },
    cancel_reason: ticket.cancelReason,
    ended: ticket.ended && { reason: ticket.ended.reason, at: isoTime(dates.dateOf(ticket.ended.at)) },
    estimated_wait:
      estimating === undefined || ticket.status !== 'SEARCHING' ? undefined : searchingEstimate(ticket, estimating),
  }
}

/** Returns the estimated remaining wait of a searching ticket. */
const searchingEstimate = ({ id }: Ticket, estimating: Estimating): EstimatedWaitView | null =>
  estimatedWaitView(estimating.estimateWait(id))

/** Returns the tickets of all players of a party, in the party's order. */
export const partyViews = (ticket: Ticket, dates: Dates, estimating?: Estimating): TicketView[] =>
  ticket.players.map((_, index) => ticketView({ ticket, index }, dates, estimating))

/**
 * Creates an id for a backfill that was requested by an existing game server, i.e. one made for another matchmaker. The
 * server waits for the status ASSIGNED (public fact). The id has a suffix, so that any process knows this.
 */
export const existingServersId = (random: Random): string => `${newId(random)}${OF_EXISTING}`
const OF_EXISTING = '-seat'

/** The status of a backfill as a ticket status: for existing clients a backfill is a kind of ticket. */
const backfillStatus: Readonly<Record<BackfillStatus, TicketStatus>> = {
  OPEN: 'SEARCHING',
  FILLED: 'HOST_ASSIGNED',
  CANCELLED: 'CANCELLED',
}

/**
 * Returns the view of a backfill.
 * @param tickets the backfill's tickets that can still be read.
 */
export function backfillView(backfill: Backfill, tickets: readonly Ticket[], dates: Dates): BackfillView {
  const views = tickets.flatMap((ticket) => partyViews(ticket, dates))
  return {
    id: backfill.id,
    profile: backfill.queue,
    status:
      backfill.status === 'FILLED' && backfill.id.endsWith(OF_EXISTING) ? 'ASSIGNED' : backfillStatus[backfill.status],
    tickets: Object.fromEntries(views.map((view) => [view.id, view])),
    assigned_ticket: views[0] ?? null,
    attributes: { assignment: views[0]?.assignment ?? null },
    match_id: backfill.matchId,
    version: backfill.version,
    created_at: isoTime(dates.dateOf(backfill.createdAt)),
    teams: backfill.teams.map((team) => ({ ...team, players: [...team.players] })),
  }
}

type SnakeCase<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? `${First extends '-' ? '_' : First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Key

/** The type of data with its keys in snake case. */
export type InSnakeCase<T> = T extends readonly (infer Item)[]
  ? InSnakeCase<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as Key extends string ? SnakeCase<Key> : never]: InSnakeCase<T[Key]> }
    : T

/** Converts the keys of data to snake case. Keys that users choose, such as attributes, must not be in it. */
export const inSnakeCase = <T>(data: T): InSnakeCase<T> => rewritten(data) as InSnakeCase<T>

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [snakeCase(key), rewritten(part)]))
}

const snakeCase = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_')
