import type { ReturnReason } from '@muster/servers'
import type { CancelReason, Ticket } from './ticket.js'

/** The match that an event is about. No event holds a player's address. */
export interface MatchEvent {
  readonly matchId: string
  readonly queue: string
}

/** Events about single tickets. */
export interface TicketEvents {
  ticketCreated: { readonly ticket: Ticket }
  /** A ticket searches again, with its waiting time kept. */
  returned: MatchEvent & { readonly ticket: Ticket; readonly reason: ReturnReason }
  cancelled: { readonly ticket: Ticket; readonly reason: Exclude<CancelReason, 'expired'> }
  expired: { readonly ticket: Ticket }
}

/** Emits events about tickets. */
export interface TicketListener {
  emit<Name extends keyof TicketEvents>(name: Name, event: TicketEvents[Name]): void
  /** Whether the event has listeners. Without any, the event's data need not be made. */
  isHeard(name: keyof TicketEvents): boolean
}
