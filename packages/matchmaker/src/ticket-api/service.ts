import type { Matchmaker } from '../commands/matchmaker.js'

/** The part of a matchmaker that the ticket API uses. */
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
