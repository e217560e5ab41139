import type { Entry, Pool, Round, Slot, TeamShape } from '@muster/kernel'
import { type Assignment, type FoundTicket, networkOf } from '@muster/hosting/internal'
import type { CompiledQueue, Explain, PlayerMayState, Queue, Facts, RuleTicket } from '../queues/index.js'
import type { QueueWaits, WaitCell } from '../wait-times/index.js'
import type { Backfill, BackfillStatus, Placed } from './backfill-types.js'
import type { CheckedTicket, PrivateSeat, TicketPlayer } from './checked-ticket.js'
import type { CheckEnvironment } from './limits.js'
import type { Place } from './locate-players.js'
import type { Acceptance, CancelReason, MatchEnd, Ticket, TicketStatus, WaitingFor } from './ticket.js'

/*
 * The records that the matchmaker keeps. They refer to one another:
 *
 *   TicketRecord ── seat ──▶ Match ── backfill ──▶ BackfillRecord
 *        └──── runtimes ──▶ QueueRuntime ◀── waiting ────┘
 */

/** Something with a due time. Only `createTimers` changes these fields. */
export interface Timed {
  /** Epoch milliseconds; Infinity for never. */
  dueAt: number
  /** Index among the items of the same second; −1 while it has no timer. */
  timerIndex: number
}

/** A ticket as the matchmaker keeps it, addresses and all. Only `createTicketStore` changes it. */
export interface TicketRecord extends RuleTicket, Timed {
  readonly players: readonly TicketPlayer[]
  /** Names of the queues it was created for. */
  readonly queues: readonly string[]
  /** Of a ticket of a private match: it is in no pool. */
  readonly privateSeat: PrivateSeat | undefined
  /** The queues that it waits in. */
  runtimes: readonly QueueRuntime[]
  /**
   * The ticket's slot in the pool of its first runtime, and in those of the others; `NOWHERE` while it is not in the
   * pool. Nearly all tickets have one runtime only, so there is no list for them. See `slotIn`.
   */
  slot: Slot
  moreSlots: Slot[] | undefined
  /** Where it is counted while it waits: one for each of its runtimes. Only `createTicketPools` changes it. */
  waits: readonly WaitCell[] | undefined
  place: RuleTicket['place']
  /** Whether its place is being looked up. */
  locating: boolean
  status: TicketStatus
  version: number
  waitingFor: WaitingFor
  attempts: number
  /** Epoch milliseconds before which it is not grouped. */
  restsUntil: number
  /** Its place in a match, from MATCH_FOUND on. */
  seat: Seat | undefined
  /** Epoch milliseconds. */
  assignedAt: number | undefined
  cancelledAt: number | undefined
  /** When it was cancelled, or its match was over: it is kept for `endedTicketTtlMs` from then on. */
  endedAt: number | undefined
  cancelReason: CancelReason | undefined
  /** How its match ended that ran, at `endedAt`. */
  matchEnd: MatchEnd | undefined
  /** Ids of its players who have left the match that runs; undefined for nobody. */
  left: readonly string[] | undefined
  /**
   * For each player, when the player's client was last there, in epoch milliseconds. Undefined unless one of its queues
   * has `presence`. Only ticket-expiry.ts changes it.
   */
  seenAt: number[] | undefined
}

/** A ticket's seat in a match. It serves as the match's `Placed` too. */
export interface Seat {
  readonly ticket: TicketRecord
  readonly match: Match
  /** Index of its team. */
  readonly team: number
  /** Epoch milliseconds. */
  readonly matchedAt: number
  /** While its match awaits acceptance. */
  acceptance: Acceptance | undefined
}

export const NOWHERE: Slot = -1

/**
 * The phase of a match:
 * - `asking`: it awaits acceptance;
 * - `due`: all did, and it gets a server as soon as one may be deployed;
 * - `deploying`: a server is requested, until players may come;
 * - `running`: the players have the server's address;
 * - `over`: it was dissolved, or has ended.
 */
type MatchPhase = 'asking' | 'due' | 'deploying' | 'running' | 'over'

/** Who is in a match, from when it was found until it is over. Only `createMatchLifecycle` changes it. */
export interface Match {
  readonly matchId: string
  /** The queue at the time when the match was found. */
  readonly queue: Queue
  /** The teams of the queue, in the order of its model. */
  readonly teams: readonly TeamShape[]
  /** Epoch milliseconds. */
  readonly foundAt: number
  /** Milliseconds of waiting at which the limits in force began. */
  expansionMs: number
  /** The tickets whose players do not know yet where to connect, in the order of joining. */
  seated: readonly TicketRecord[]
  /** All tickets in the match, whether or not their players know where to connect. */
  placed: readonly Placed[]
  phase: MatchPhase
  /** Whether an earlier process made it: its teams are not known, and `placed` holds those who joined since. */
  teamsUnknown: boolean
  /** Epoch milliseconds by which players who did not accept must be replaced; Infinity while nobody is missing. */
  fullBy: number
  requestId: string | undefined
  assignment: Assignment | undefined
  /** The open backfill of the match. */
  backfill: BackfillRecord | undefined
}

/** A backfill as the matchmaker keeps it. Only `createBackfills` changes it. */
export interface BackfillRecord {
  readonly id: string
  readonly match: Match
  /** Epoch milliseconds. Rules relax with its waiting time, from where they were when the match was found. */
  readonly createdAt: number
  readonly priority: number
  version: number
  status: BackfillStatus
  /** For each team of the match, how many more players it takes. */
  rooms: readonly number[]
  /** For each team, the tickets in it. */
  present: readonly (readonly RuleTicket[])[]
  /** Ids of the tickets that joined through it. */
  readonly tickets: string[]
  /** While it is open: the pool it waits in. */
  waiting: { readonly runtime: QueueRuntime; readonly slot: Slot } | undefined
}

/** A queue in operation: its compiled rules, and the pool of its waiting tickets. */
export interface QueueRuntime {
  readonly queue: Queue
  /** The lists that all tickets of this queue alone share. */
  readonly alone: { readonly queues: readonly [string]; readonly runtimes: readonly QueueRuntime[] }
  readonly compiled: CompiledQueue
  /** The entry of a ticket in the pool. @throws {InvalidTicket} */
  readonly entryOf: (ticket: RuleTicket & FoundTicket) => Entry<Facts>
  /** Refuses a ticket that does not fit into a server's environment. @throws {InvalidTicket} */
  readonly checkEnvironment: CheckEnvironment
  /** Whether players may state an attribute themselves. */
  readonly playerMayState: PlayerMayState
  readonly readsLatencies: boolean
  /** Players of the largest party that fits into a team. */
  readonly largestParty: number
  readonly pool: Pool<Facts>
  readonly explain: Explain
  /** How long tickets wait. It continues when the queue is replaced by one of the same name. */
  readonly waits: QueueWaits
  /** The ticket in each slot of the pool. */
  readonly records: (TicketRecord | undefined)[]
  readonly backfills: (BackfillRecord | undefined)[]
  /** Tickets that entered the pool since the last round; used only in queues of mode `arrival`. */
  readonly arrivals: Set<TicketRecord>
  /** Called when the first of them arrives. */
  readonly arrived: (runtime: QueueRuntime) => void
  /** Whether no matches are made of its tickets now, by `pauseQueue`. */
  isPaused: boolean
  /** Whether the last tick found matches for which there was no server. */
  isShort: boolean
  /** A round that the time of a tick did not suffice for. */
  round: Round | undefined
}

/** What differs between a new ticket and one that waited elsewhere before. */
interface RecordOptions {
  readonly id: string
  readonly runtimes: readonly QueueRuntime[]
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly attempts: number
  /** Undefined: unknown, or still `locating`. */
  readonly place: Place
  readonly locating: boolean
}

/** Makes the record of a ticket that searches and is in no pool yet. */
export const newRecord = (
  { players, priority, queues, privateSeat }: CheckedTicket,
  { id, runtimes, createdAt, attempts, place, locating }: RecordOptions,
): TicketRecord => ({
  id,
  players,
  priority,
  createdAt,
  place,
  network: networkOf(players),
  locating,
  queues: queues.length === 1 ? (runtimes[0]?.alone.queues ?? queues) : queues,
  privateSeat,
  runtimes,
  slot: NOWHERE,
  moreSlots: undefined,
  waits: undefined,
  status: 'SEARCHING',
  version: 1,
  waitingFor: privateSeat !== undefined ? 'servers' : locating ? 'location' : 'players',
  attempts,
  restsUntil: 0,
  seat: undefined,
  assignedAt: undefined,
  cancelledAt: undefined,
  endedAt: undefined,
  cancelReason: undefined,
  matchEnd: undefined,
  left: undefined,
  seenAt: undefined,
  dueAt: Infinity,
  timerIndex: -1,
})

/** The public view of a ticket. */
export function ticketOf(record: TicketRecord): Ticket {
  const { seat, status } = record
  return {
    id: record.id,
    version: record.version,
    queues: record.queues,
    players: record.players.map(({ id }) => ({ id })),
    priority: record.priority,
    status,
    createdAt: Math.floor(record.createdAt),
    waitingFor: status === 'SEARCHING' ? record.waitingFor : undefined,
    attempts: record.attempts,
    matchId: seat?.match.matchId,
    queue: seat?.match.queue.name,
    team: seat?.match.teams[seat.team]?.name,
    matchedAt: whole(seat?.matchedAt),
    privateMatch: record.privateSeat?.id,
    acceptance: status === 'MATCH_FOUND' ? seat?.acceptance : undefined,
    assignedAt: whole(record.assignedAt),
    assignment: status === 'HOST_ASSIGNED' ? seat?.match.assignment : undefined,
    ended: record.matchEnd && { reason: record.matchEnd, at: Math.floor(record.endedAt ?? 0) },
    left: record.left,
    cancelledAt: whole(record.cancelledAt),
    cancelReason: record.cancelReason,
  }
}

/** Fractions of milliseconds keep tickets in order internally. Public times are whole milliseconds. */
const whole = (at: number | undefined) => (at === undefined ? undefined : Math.floor(at))

/** The public view of a backfill. */
export const backfillOf = (record: BackfillRecord): Backfill => ({
  id: record.id,
  version: record.version,
  matchId: record.match.matchId,
  queue: record.match.queue.name,
  status: record.status,
  createdAt: Math.floor(record.createdAt),
  teams: record.match.teams.map(({ name }, team) => ({
    name,
    slots: record.rooms[team] ?? 0,
    players: (record.present[team] ?? []).flatMap(({ players }) => players.map(({ id }) => id)),
  })),
  tickets: [...record.tickets],
})
