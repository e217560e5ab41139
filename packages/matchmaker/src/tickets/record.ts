import type { Assignment } from '../allocation/assignment.js'
import type { Candidate } from '../grouping/candidate.js'
import type { CancelReason, Player, Ticket, TicketStatus, WaitingFor } from './ticket.js'

/** A ticket as the matchmaker keeps it, addresses and all. Only `createTickets` changes it. */
export interface TicketRecord extends Candidate {
  readonly queue: string
  readonly players: readonly Player[]
  place: Candidate['place']
  /** Whether its place is still being looked up. */
  locating: boolean
  status: TicketStatus
  waitingFor: WaitingFor
  attempts: number
  /** Epoch milliseconds before which it is not grouped again. */
  restsUntil: number
  matchId: string | undefined
  matchedAt: number | undefined
  assignedAt: number | undefined
  assignment: Assignment | undefined
  cancelledAt: number | undefined
  cancelReason: CancelReason | undefined
}

/** What may be seen of it. */
export const ticketOf = (record: TicketRecord): Ticket => ({
  id: record.id,
  queue: record.queue,
  players: record.players.map(({ id }) => ({ id })),
  status: record.status,
  createdAt: record.createdAt,
  waitingFor: record.status === 'SEARCHING' ? record.waitingFor : undefined,
  attempts: record.attempts,
  matchId: record.matchId,
  matchedAt: record.matchedAt,
  assignedAt: record.assignedAt,
  assignment: record.assignment,
  cancelledAt: record.cancelledAt,
  cancelReason: record.cancelReason,
})
