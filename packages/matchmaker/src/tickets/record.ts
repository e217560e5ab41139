import type { Slot } from '../kernel/model.js'
import type { Match } from '../matches/match.js'
import type { RuleTicket } from '../queues/rules/facts.js'
import type { Timed } from './timer-heap.js'
import type { QueueRuntime } from './queue-runtime.js'
import type { Acceptance, CancelReason, Ticket, TicketStatus, WaitingFor } from './ticket.js'
import type { TicketPlayer } from './checked-ticket.js'

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

/** What may be seen of it. */
export function ticketOf(record: TicketRecord): Ticket {
  const { seat, status } = record
  return {
    id: record.id,
    version: record.version,
    queues: record.queues,
    players: record.players.map(({ id }) => ({ id })),
    priority: record.priority,
    status,
    createdAt: record.createdAt,
    waitingFor: status === 'SEARCHING' ? record.waitingFor : undefined,
    attempts: record.attempts,
    matchId: seat?.match.matchId,
    queue: seat?.match.queue.name,
    team: seat?.match.teams[seat.team]?.name,
    matchedAt: seat?.matchedAt,
    acceptance: status === 'MATCH_FOUND' ? seat?.acceptance : undefined,
    assignedAt: record.assignedAt,
    assignment: status === 'HOST_ASSIGNED' ? seat?.match.assignment : undefined,
    cancelledAt: record.cancelledAt,
    cancelReason: record.cancelReason,
  }
}
