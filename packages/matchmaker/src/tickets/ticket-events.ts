import type { ReturnReason } from '../servers/records/reasons.js'
import type { CancelReason, Ticket } from './ticket.js'

/** Events of a match say which. None holds a player's address. */
export interface MatchEvent {
  readonly matchId: string
  readonly queue: string
}

/** What becomes of tickets, apart from the matches they are in. */
export interface TicketEvents {
  ticketCreated: { readonly ticket: Ticket }
  /** A ticket searches again, with its waiting time kept. */
  returned: MatchEvent & { readonly ticket: Ticket; readonly reason: ReturnReason }
  cancelled: { readonly ticket: Ticket; readonly reason: Exclude<CancelReason, 'expired'> }
  expired: { readonly ticket: Ticket }
}

/** What is told of tickets. */
export interface TicketListener {
  emit<Name extends keyof TicketEvents>(name: Name, event: TicketEvents[Name]): void
  /** Whether anybody would hear it: what is said about every ticket is not made for nobody. */
  isHeard(name: keyof TicketEvents): boolean
}
