import type { Pool, Round, Slot, TeamShape } from '../kernel/model.js'
import type { CompiledQueue } from '../queues/compile.js'
import type { Explain } from '../queues/explain/explain.js'
import type { PlayerMayState } from '../queues/player-may-state.js'
import type { Queue } from '../queues/queue.js'
import type { Facts, RuleTicket } from '../queues/rules/facts.js'
import type { Assignment } from '../servers/records/assignment.js'
import type { BackfillStatus } from './backfill.js'
import type { TicketPlayer } from './checked-ticket.js'
import type { Acceptance, CancelReason, TicketStatus, WaitingFor } from './ticket.js'
import type { Timed } from './timer-heap.js'
import type { Placed } from './vacancies.js'

/*
 * The records that the matchmaker keeps. They refer to one another:
 *
 *   TicketRecord ── seat ──▶ Match ── backfill ──▶ BackfillRecord
 *        └──── runtimes ──▶ QueueRuntime ◀── waiting ────┘
 */

/** A ticket as the matchmaker keeps it, addresses and all. Only `createTickets` changes it. */
export interface TicketRecord extends RuleTicket, Timed {
  readonly players: readonly TicketPlayer[]
  /** As they were asked for; shared by all tickets of the same queues. */
  readonly queues: readonly string[]
  /** Those of the queues that it can wait in. */
  runtimes: readonly QueueRuntime[]
  /**
   * Where in the pool of the first of its runtimes the ticket is, and for each of the others; `NOWHERE` if it is not in there
   * now. Nearly all have but one, for which a list would cost more than the rest of it. See `slotIn`.
   */
  slot: Slot
  moreSlots: Slot[] | undefined
  place: RuleTicket['place']
  /** Whether its place is still being looked up. */
  locating: boolean
  status: TicketStatus
  version: number
  waitingFor: WaitingFor
  attempts: number
  /** Epoch milliseconds before which it is not grouped again. */
  restsUntil: number
  /** Its place in a match, from MATCH_FOUND on. */
  seat: Seat | undefined
  /** Epoch milliseconds. */
  assignedAt: number | undefined
  cancelledAt: number | undefined
  /** When it was cancelled, or its match was over: it is kept for a while from then on. */
  endedAt: number | undefined
  cancelReason: CancelReason | undefined
}

/** A ticket's place in a match; it is the `Placed` of its match too. */
export interface Seat {
  readonly ticket: TicketRecord
  readonly match: Match
  /** Index of its team. */
  readonly team: number
  /** Epoch milliseconds. */
  readonly matchedAt: number
  /** While it matters whether its players accept. */
  acceptance: Acceptance | undefined
}

export const NOWHERE: Slot = -1

/**
 * Where a match stands, seen from its players:
 * - `asking`: they are asked whether they accept it;
 * - `due`: all did, and it gets a server as soon as one may be deployed;
 * - `deploying`: a server is asked for, until players may come;
 * - `running`: they were told where to connect;
 * - `over`: it was dissolved, or has ended.
 */
export type MatchPhase = 'asking' | 'due' | 'deploying' | 'running' | 'over'

/** Who is in a match, from when it was found until it is over. Only `createMatchLives` changes it. */
export interface Match {
  readonly matchId: string
  /** As it was when it found the match. */
  readonly queue: Queue
  /** Those of the queue, in the order of its model. */
  readonly teams: readonly TeamShape[]
  /** Epoch milliseconds. */
  readonly foundAt: number
  /** Milliseconds of waiting at which the limits began that were in force. */
  expansionMs: number
  /** Its tickets that are not told yet where to connect, in the order in which they came. */
  seated: readonly TicketRecord[]
  /** Who is in it, of those who were told already and of the others. */
  placed: readonly Placed[]
  phase: MatchPhase
  /** An earlier process made it, so that it is not known who is in which of its teams; `placed` are those who came since. */
  teamsUnknown: boolean
  /** Epoch milliseconds by which those who did not accept must be replaced; Infinity while nobody is missing. */
  fullBy: number
  requestId: string | undefined
  assignment: Assignment | undefined
  /** The one that is open. */
  backfill: BackfillRecord | undefined
}

/** A backfill as the matchmaker keeps it. Only `createBackfills` changes it. */
export interface BackfillRecord {
  readonly id: string
  readonly match: Match
  /** Epoch milliseconds: rules relax with its waiting time, too, from where they were when the match was found. */
  readonly createdAt: number
  readonly priority: number
  version: number
  status: BackfillStatus
  /** For each team of the match, how many more players it takes. */
  rooms: readonly number[]
  /** For each team, who is in it. */
  present: readonly (readonly RuleTicket[])[]
  /** Ids of those that came through it. */
  readonly tickets: string[]
  /** While it is open: where it waits. */
  waiting: { readonly runtime: QueueRuntime; readonly slot: Slot } | undefined
}

/** A queue in operation: its rules made ready for use, and the pool of those that wait in it. */
export interface QueueRuntime {
  readonly queue: Queue
  /** What all tickets share that wait in no other. */
  readonly alone: { readonly queues: readonly [string]; readonly runtimes: readonly QueueRuntime[] }
  readonly compiled: CompiledQueue
  /** What is believed of players' own word. */
  readonly playerMayState: PlayerMayState
  readonly pool: Pool<Facts>
  readonly explain: Explain
  /** Whose slots of the pool they are. */
  readonly records: (TicketRecord | undefined)[]
  readonly backfills: (BackfillRecord | undefined)[]
  /** Tickets that came into the pool since the last round; only where matches are made at arrival. */
  readonly arrivals: Set<TicketRecord>
  /** Called for the first of them. */
  readonly arrived: (runtime: QueueRuntime) => void
  /** A round that was not over when the time of a tick was. */
  round: Round | undefined
}
