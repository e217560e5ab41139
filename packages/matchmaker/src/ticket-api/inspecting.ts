import type { Inspection } from '../commands/inspection.js'
import type { TicketService } from './service.js'
import { partyViews, type TicketView } from './views.js'

/** What waits: the queues, and some of the tickets, those that wait longest first. No addresses. */
export interface TicketsInspected {
  readonly queues: Inspection['queues']
  /** How many tickets search. */
  readonly total: number
  readonly tickets: readonly TicketView[]
}

export function inspectTickets(
  service: Pick<TicketService, 'exportTickets' | 'getTicket'>,
  { queues }: Inspection,
  limit: number,
): TicketsInspected {
  const { tickets } = service.exportTickets()
  const oldest = tickets.toSorted((a, b) => a.createdAt - b.createdAt).slice(0, limit)
  return { queues, total: tickets.length, tickets: oldest.flatMap(({ id }) => service.getTicket(id) ?? []).flatMap(partyViews) }
}
