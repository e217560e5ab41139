import type { Matchmaker } from '../commands/matchmaker.js'

/** What the ticket API needs of a matchmaker. */
export type TicketService = Pick<
  Matchmaker,
  | 'playerMayState'
  | 'createTicket'
  | 'createTickets'
  | 'getTicket'
  | 'waitForChange'
  | 'cancelTicket'
  | 'acceptMatch'
  | 'declineMatch'
  | 'explain'
  | 'exportTickets'
  | 'playersLeft'
  | 'stopMatch'
  | 'serverReady'
  | 'isServerSecret'
  | 'createBackfill'
  | 'getBackfill'
  | 'updateBackfill'
  | 'cancelBackfill'
  | 'inspect'
>
