import type { Entry, Pool, Round, Slot, TeamShape } from '@muster/kernel'
import { type Assignment, type FoundTicket, networkOf } from '@muster/hosting/internal'
import type { CompiledQueue, Explain, PlayerMayState, Queue, Facts, RuleTicket } from '../queues/index.js'
import type { QueueWaits, WaitCell } from '../wait-times/index.js'
import type { Backfill, BackfillStatus, PlacedTicket } from './backfill-types.js'
import type { CheckedTicket, PrivateSeat, TicketPlayer } from './checked-ticket.js'
import type { CheckEnvironment } from './limits.js'
import type { PlayerLocation } from './locate-players.js'
import type { Acceptance, CancelReason, MatchEnd, Ticket, TicketStatus, WaitingFor } from './ticket.js'

/*
 * The matchmaker's records. They refer to one another:
 *
 * TicketRecord ── seat ──▶ Match ── backfill ──▶ BackfillRecord
 *        └──── runtimes ──▶ QueueRuntime ◀── waiting ────┘
 */

/** Something with a due time. Only `createTimers` changes these fields. */
export interface Timed {
  /** Epoch milliseconds; Infinity for never. */
  dueAt: number
  /** Index of the item among the items of the same second; −1 while the item has no timer. */
  timerIndex: number
}

/** A ticket with all its data, including addresses. Only `TicketStore` and the modules that it uses change it. */
export interface TicketRecord extends RuleTicket, Timed {
  readonly players: readonly TicketPlayer[]
  /** Names of the queues for which the ticket was created. */
  readonly queues: readonly string[]
  /** The ticket's seat in a private match; undefined for other tickets. A ticket with such a seat is in no pool. */
  readonly privateSeat: PrivateSeat | undefined
  /** The queues in which the ticket waits. */
  runtimes: readonly QueueRuntime[]
  /**
   * The ticket's slot in the pool of its first runtime; `NOWHERE` while it is not in the pool. `moreSlots` has the
   * slots in the pools of the other runtimes. Nearly all tickets have one runtime only and need no such list. See
   * `slotIn`.
   */
  slot: Slot
  moreSlots: Slot[] | undefined
  /**
   * The cells in which the ticket is counted while it waits: one for each of its runtimes. Only `createTicketPools`
   * changes them.
   */
  waits: readonly WaitCell[] | undefined
  place: RuleTicket['place']
  /** True while the ticket's location is looked up. */
  locating: boolean
  status: TicketStatus
  version: number
  waitingFor: WaitingFor
  attempts: number
  /** Epoch milliseconds before which the ticket is not matched. */
  restsUntil: number
  /** The ticket's seat in a match, from MATCH_FOUND on. */
  seat: MatchSeat | undefined
  /** Epoch milliseconds. */
  assignedAt: number | undefined
  cancelledAt: number | undefined
  /**
   * Epoch milliseconds at which the ticket was cancelled or its match ended. The ticket is kept for `endedTicketTtlMs`
   * after that.
   */
  endedAt: number | undefined
  cancelReason: CancelReason | undefined
  /** How the ticket's running match ended, at `endedAt`. */
  matchEnd: MatchEnd | undefined
  /** Ids of the players of the ticket who have left the running match; undefined for none. */
  left: readonly string[] | undefined
  /**
   * For each player, the time in epoch milliseconds at which the player's client was last present. Undefined unless one
   * of the ticket's queues has `presence`. Only ticket-expiry.ts changes it.
   */
  seenAt: number[] | undefined
}

/** A ticket's seat in a match. It is also the match's `PlacedTicket`. */
export interface MatchSeat {
  readonly ticket: TicketRecord
  readonly match: Match
  /** Index of the ticket's team. */
  readonly team: number
  /** Epoch milliseconds. */
  readonly matchedAt: number
  /** Who has accepted so far; set while the match awaits acceptance. */
  acceptance: Acceptance | undefined
}

export const NOWHERE: Slot = -1

/**
 * The phase of a match:
 * - `asking`: the match awaits acceptance, or a replacement for players who left before;
 * - `due`: all players have accepted, and the match gets a server once one may be created;
 * - `deploying`: a server was requested for the match, and is not ready for players;
 * - `running`: the server listens, and the players have its address, also after a restart or takeover;
 * - `over`: the match was dissolved or has ended, or this process could not take it over.
 */
type MatchPhase = 'asking' | 'due' | 'deploying' | 'running' | 'over'

/** The tickets and players of a match, from when it is found until it is over. Only code in `matches` changes it. */
export interface Match {
  readonly matchId: string
  /** The queue at the time when the match was found. */
  readonly queue: Queue
  /**
   * The teams of the queue, in the order of its model. After a restart, former teams of players who play follow them.
   */
  teams: readonly TeamShape[]
  /** Epoch milliseconds. */
  readonly foundAt: number
  /** Wait time in milliseconds whose relaxation step the match satisfies. */
  expansionMs: number
  /** The tickets whose players do not have the address yet, in the order in which they joined. */
  seated: readonly TicketRecord[]
  /** All tickets in the match, with or without an address. */
  placed: readonly PlacedTicket[]
  phase: MatchPhase
  /**
   * True if an earlier process made the match and the team of some players is unknown. `placed` lacks these players.
   */
  teamsUnknown: boolean
  /**
   * Epoch milliseconds by which players who left before the deployment must be replaced; Infinity if no player is
   * missing.
   */
  fullBy: number
  requestId: string | undefined
  assignment: Assignment | undefined
  /** The open backfill of the match. */
  backfill: BackfillRecord | undefined
}

/** A backfill with all its data. Only `Backfills` changes it. */
export interface BackfillRecord {
  readonly id: string
  readonly match: Match
  /**
   * Epoch milliseconds at which it was created. Rules relax with its waiting time, starting at the step of the match.
   */
  readonly createdAt: number
  readonly priority: number
  version: number
  status: BackfillStatus
  /** Number of further players that each team of the match takes. */
  rooms: readonly number[]
  /** For each team, the tickets in it. */
  present: readonly (readonly RuleTicket[])[]
  /** Ids of the tickets that joined the match through this backfill. */
  readonly tickets: string[]
  /** The queue and slot in which the backfill waits; undefined once it is no longer open. */
  waiting: { readonly runtime: QueueRuntime; readonly slot: Slot } | undefined
}

/** A queue in operation: its compiled rules, and the pool of its waiting tickets. */
export interface QueueRuntime {
  readonly queue: Queue
  /** Lists that are shared by all tickets that wait in this queue only. */
  readonly alone: { readonly queues: readonly [string]; readonly runtimes: readonly QueueRuntime[] }
  readonly compiled: CompiledQueue
  /** Returns the entry of a ticket in the pool. @throws {InvalidTicket} */
  readonly entryOf: (ticket: RuleTicket & FoundTicket) => Entry<Facts>
  /** Refuses a ticket that does not fit into a server's environment. @throws {InvalidTicket} */
  readonly checkEnvironment: CheckEnvironment
  /** Returns whether players may state an attribute themselves. */
  readonly playerMayState: PlayerMayState
  readonly readsLatencies: boolean
  /** Maximum number of players in a party that fits into a team. */
  readonly largestParty: number
  readonly pool: Pool<Facts>
  readonly explain: Explain
  /** Statistics of waits. They survive when the queue is replaced by one of the same name. */
  readonly waits: QueueWaits
  /** The ticket in each slot of the pool. */
  readonly records: (TicketRecord | undefined)[]
  readonly backfills: (BackfillRecord | undefined)[]
  /** Tickets that entered the pool since the last round; used only in queues of mode `arrival`. */
  readonly arrivals: Set<TicketRecord>
  /** Called when the first ticket of `arrivals` arrives. */
  readonly arrived: (runtime: QueueRuntime) => void
  /** True while paused by `pauseQueue`: no matches are made of its tickets. */
  isPaused: boolean
  /** True if the last tick found matches for which there was no server. */
  isShort: boolean
  /** A round that did not end within a tick. */
  round: Round | undefined
}

/** The values in which a new ticket differs from an imported one. */
interface NewRecordOptions {
  readonly id: string
  readonly runtimes: readonly QueueRuntime[]
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly attempts: number
  /** Location of the players; undefined if it is unknown or still being looked up. */
  readonly place: PlayerLocation
  readonly locating: boolean
}

/** Creates the record of a searching ticket that is in no pool yet. */
export const newRecord = (
  { players, priority, queues, privateSeat }: CheckedTicket,
  { id, runtimes, createdAt, attempts, place, locating }: NewRecordOptions,
): TicketRecord => ({
  id,
  players,
  priority,
  createdAt,
  place,
  network: networkOf(players),
  locating,
  queues: Object.freeze(queues.length === 1 ? (runtimes[0]?.alone.queues ?? queues) : queues),
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

/** Returns the public view of a ticket. */
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

/** Rounds down to whole milliseconds for public times. Fractions only keep tickets in order internally. */
const whole = (at: number | undefined) => (at === undefined ? undefined : Math.floor(at))

/** Returns the public view of a backfill. */
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
