// Seats give each player of a party a ticket of their own.
import type { Assignment } from '@muster/servers/internal'
import type { Matchmaker, QueueWait } from '../matches/index.js'
import {
  type Backfill,
  type BackfillStatus,
  type CancelReason,
  type MatchEnd,
  seatIdOf,
  type Ticket,
  type TicketStatus,
  type WaitingFor,
} from '../tickets/index.js'
import type { WaitEstimate } from '../wait-times/index.js'

/**
 * The ticket of one player. For the matchmaker a party is one ticket; for clients of this API each player has a ticket.
 * A single player's ticket keeps its id; those of a party have the ids `<id>.0`, `<id>.1` and so on, in the party's
 * order.
 */
export interface Seat {
  readonly ticket: Ticket
  /** Index of the player in the ticket. */
  readonly index: number
}

export const seatId = ({ ticket, index }: Seat): string => seatIdOf(ticket, index)

/**
 * The matchmaker's ticket and the player's index that a seat's id names; the index is undefined for the id of a party.
 */
export function parseSeatId(id: string): { readonly ticketId: string; readonly index: number | undefined } {
  const dot = id.indexOf('.')
  if (dot === -1) return { ticketId: id, index: undefined }
  const index = /^(?:0|[1-9]\d{0,2})$/.test(id.slice(dot + 1)) ? Number(id.slice(dot + 1)) : -1
  return { ticketId: id.slice(0, dot), index }
}

/**
 * The seat that an id names for a caller: one of the player `playerId`, or any seat if `playerId` is undefined.
 * Undefined if there is none. The id of a party names the player's own seat, or the first seat if `playerId` is
 * undefined.
 */
export function seatOf(ticket: Ticket, index: number | undefined, playerId: string | undefined): Seat | undefined {
  const { players } = ticket
  if (index === undefined) {
    const own = playerId === undefined ? 0 : players.findIndex(({ id }) => id === playerId)
    return own === -1 ? undefined : { ticket, index: own }
  }
  const player = players.length === 1 ? undefined : players[index]
  return player === undefined || (playerId !== undefined && player.id !== playerId) ? undefined : { ticket, index }
}

/** From now until a match is found. */
export interface EstimatedWaitView {
  /** Half of such tickets wait no longer. */
  readonly p50_seconds: number
  /** Nine of ten wait no longer; null where too little was seen for that. */
  readonly p90_seconds: number | null
}

/** A queue, as one sees it before one waits in it. */
export interface QueueWaitView {
  readonly profile: string
  readonly tickets_waiting: number
  readonly players_waiting: number
  /** While it is, no matches are made. */
  readonly paused: boolean
  /** For a ticket that comes now; null where too little was seen. */
  readonly estimated_wait: EstimatedWaitView | null
}

const estimatedWaitView = (estimate: WaitEstimate | undefined): EstimatedWaitView | null =>
  estimate === undefined
    ? null
    : {
        p50_seconds: inSeconds(estimate.p50Ms),
        p90_seconds: estimate.p90Ms === undefined ? null : inSeconds(estimate.p90Ms),
      }

/** To a tenth of a second: in many queues a wait is shorter than one. */
const inSeconds = (ms: number) => Math.round(ms / 100) / 10

/** @param shown maps a number of waiting tickets or players to the number that the caller may see. */
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

/**
 * The assignment, which tells where to connect. Names and shape are those that existing game clients read (public
 * fact).
 */
export interface AssignmentView {
  readonly fqdn: string
  readonly public_ip: string | null
  readonly ports: Readonly<
    Record<
      string,
      {
        readonly internal: number | null
        readonly external: number | null
        readonly link: string | null
        readonly protocol: string | null
      }
    >
  >
  readonly location: {
    readonly city: string | null
    readonly country: string | null
    readonly continent: string | null
    readonly administrative_division: string | null
    readonly timezone: string | null
    readonly latitude: number | null
    readonly longitude: number | null
  } | null
  /**
   * Our addition: the beacon at which a latency rule placed the server, and the rule's limit for every player's round
   * trip, in milliseconds.
   */
  readonly promised: { readonly beacon: string; readonly latency_ms: number | null } | null
}

/**
 * The ticket of one player. The keys up to `assignment` are those that existing game clients read (public fact); the
 * rest are ours.
 */
export interface TicketView {
  readonly id: string
  readonly profile: string
  readonly created_at: string
  readonly status: TicketStatus
  readonly group_id: string
  readonly team_id: string | null
  readonly match_id: string | null
  readonly assignment: AssignmentView | null
  readonly player_id: string
  /** The version, which grows with every change; for long polls (`wait`) and events. */
  readonly version: number
  /** All profiles in which the ticket waits, if there are several. */
  readonly profiles?: readonly string[] | undefined
  readonly waiting_for?: WaitingFor | undefined
  readonly acceptance?: { readonly until: string; readonly accepted: boolean } | undefined
  readonly cancel_reason?: CancelReason | undefined
  /** When HOST_ASSIGNED: how and when its match has ended. */
  readonly ended?: { readonly reason: MatchEnd; readonly at: string } | undefined
  /** While it searches: how much longer, from when this was answered; null where too little was seen. */
  readonly estimated_wait?: EstimatedWaitView | null | undefined
}

let last = { ms: Number.NaN, iso: '' }

/**
 * The ISO text of a time. The last text is kept, because many tickets that arrive together have the same time, and
 * formatting it takes longer than the rest of their views.
 */
export function isoTime(at: number): string {
  const ms = Math.trunc(at)
  if (ms !== last.ms) last = { ms, iso: isoOf(ms) }
  return last.iso
}

/** The second that was written last, up to its point. */
let second = { ms: Number.NaN, text: '' }

/** Like `toISOString`, but calls it only once a second: tickets that arrive one by one differ in milliseconds. */
function isoOf(ms: number): string {
  if (!(ms >= 0 && ms <= LAST_DATE)) return new Date(ms).toISOString()
  const rest = ms % 1000
  const whole = ms - rest
  if (whole !== second.ms) second = { ms: whole, text: new Date(whole).toISOString().slice(0, -'000Z'.length) }
  return `${second.text}${String(rest).padStart(3, '0')}Z`
}

/** Milliseconds of the last time that a `Date` can hold. */
const LAST_DATE = 8.64e15

export function assignmentView({ fqdn, publicIp, ports, location, promised }: Assignment): AssignmentView {
  return {
    fqdn,
    public_ip: publicIp ?? null,
    ports: Object.fromEntries(
      Object.entries(ports).map(([name, { internal, external, link, protocol }]) => [
        name,
        { internal: internal ?? null, external: external ?? null, link: link ?? null, protocol: protocol ?? null },
      ]),
    ),
    location:
      location === undefined
        ? null
        : {
            city: location.city ?? null,
            country: location.country ?? null,
            continent: location.continent ?? null,
            administrative_division: location.administrativeDivision ?? null,
            timezone: location.timezone ?? null,
            latitude: location.latitude ?? null,
            longitude: location.longitude ?? null,
          },
    promised: promised === undefined ? null : { beacon: promised.beacon, latency_ms: promised.latencyMs ?? null },
  }
}

/** Tells how much longer tickets wait. */
export type Estimating = Pick<Matchmaker, 'estimateWait'>

/** @param estimating without it, the view does not say how much longer the ticket waits. */
export function ticketView(seat: Seat, estimating?: Estimating): TicketView {
  const { ticket, index } = seat
  const { queues, acceptance } = ticket
  const playerId = ticket.players[index]?.id ?? ''
  return {
    id: seatId(seat),
    profile: ticket.queue ?? queues[0] ?? '',
    created_at: isoTime(ticket.createdAt),
    status: ticket.status,
    group_id: ticket.id,
    team_id: ticket.team ?? null,
    match_id: ticket.matchId ?? null,
    assignment: ticket.assignment === undefined ? null : assignmentView(ticket.assignment),
    player_id: playerId,
    version: ticket.version,
    profiles: queues.length > 1 ? queues : undefined,
    waiting_for: ticket.waitingFor,
    acceptance: acceptance && { until: isoTime(acceptance.until), accepted: acceptance.accepted.includes(playerId) },
    cancel_reason: ticket.cancelReason,
    ended: ticket.ended && { reason: ticket.ended.reason, at: isoTime(ticket.ended.at) },
    estimated_wait:
      estimating === undefined || ticket.status !== 'SEARCHING' ? undefined : searchingEstimate(ticket, estimating),
  }
}

/** How much longer a ticket that searches waits. */
const searchingEstimate = ({ id }: Ticket, estimating: Estimating): EstimatedWaitView | null =>
  estimatedWaitView(estimating.estimateWait(id))

/** The tickets of all players of a party, in the party's order. */
export const partyViews = (ticket: Ticket, estimating?: Estimating): TicketView[] =>
  ticket.players.map((_, index) => ticketView({ ticket, index }, estimating))

/**
 * A backfill. The keys up to `attributes` are those that existing game servers read (public fact); the rest are ours.
 */
export interface BackfillView {
  readonly id: string
  readonly profile: string
  readonly status: TicketStatus
  /** Tickets, by id, that joined the match through this backfill. */
  readonly tickets: Readonly<Record<string, TicketView>>
  /** The first of `tickets`. */
  readonly assigned_ticket: TicketView | null
  readonly attributes: { readonly assignment: AssignmentView | null }
  readonly match_id: string
  readonly version: number
  readonly created_at: string
  readonly teams: readonly { readonly name: string; readonly slots: number; readonly players: readonly string[] }[]
}

/** The status of a backfill as that of a ticket: to existing clients a backfill is a kind of ticket. */
const backfillStatus: Readonly<Record<BackfillStatus, TicketStatus>> = {
  OPEN: 'SEARCHING',
  FILLED: 'HOST_ASSIGNED',
  CANCELLED: 'CANCELLED',
}

/**
 * The view of a backfill.
 * @param tickets the backfill's tickets that can still be read.
 */
export function backfillView(backfill: Backfill, tickets: readonly Ticket[]): BackfillView {
  const views = tickets.flatMap((ticket) => partyViews(ticket))
  return {
    id: backfill.id,
    profile: backfill.queue,
    status: backfillStatus[backfill.status],
    tickets: Object.fromEntries(views.map((view) => [view.id, view])),
    assigned_ticket: views[0] ?? null,
    attributes: { assignment: views[0]?.assignment ?? null },
    match_id: backfill.matchId,
    version: backfill.version,
    created_at: isoTime(backfill.createdAt),
    teams: backfill.teams,
  }
}

type SnakeCase<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Key

/** The type of data with its keys in snake case. */
export type InSnakeCase<T> = T extends readonly (infer Item)[]
  ? readonly InSnakeCase<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as Key extends string ? SnakeCase<Key> : never]: InSnakeCase<T[Key]> }
    : T

/**
 * Converts the keys of data to snake case. Keys that users choose, such as attribute names, must not be in the data.
 */
export const inSnakeCase = <T>(data: T): InSnakeCase<T> => rewritten(data) as InSnakeCase<T>

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [snakeCase(key), rewritten(part)]))
}

const snakeCase = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_')
