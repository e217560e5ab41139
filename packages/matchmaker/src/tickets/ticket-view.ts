import type { TicketRecord } from './records.js'
import type { Ticket } from './ticket.js'

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
    cancelledAt: whole(record.cancelledAt),
    cancelReason: record.cancelReason,
  }
}

/** Fractions of milliseconds keep tickets in order internally. Public times are whole milliseconds. */
const whole = (at: number | undefined) => (at === undefined ? undefined : Math.floor(at))
