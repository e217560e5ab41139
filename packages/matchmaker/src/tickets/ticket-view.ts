import type { TicketRecord } from './records.js'
import type { Ticket } from './ticket.js'

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
    createdAt: Math.floor(record.createdAt),
    waitingFor: status === 'SEARCHING' ? record.waitingFor : undefined,
    attempts: record.attempts,
    matchId: seat?.match.matchId,
    queue: seat?.match.queue.name,
    team: seat?.match.teams[seat.team]?.name,
    matchedAt: whole(seat?.matchedAt),
    acceptance: status === 'MATCH_FOUND' ? seat?.acceptance : undefined,
    assignedAt: whole(record.assignedAt),
    assignment: status === 'HOST_ASSIGNED' ? seat?.match.assignment : undefined,
    cancelledAt: whole(record.cancelledAt),
    cancelReason: record.cancelReason,
  }
}

/** The machine's clock knows fractions of milliseconds: they keep tickets in order, and are nobody else's concern. */
const whole = (at: number | undefined) => (at === undefined ? undefined : Math.floor(at))
