import type { TicketRecord } from './records.js'
import type { CooldownState } from '../queues/cooldown.js'
import type { Ticket } from './ticket.js'

/**
 * Told of what must be known beyond this process. Each method is called within the turn of the event loop in which the
 * change happened, after it and in order, so that all changes of a turn can be written together.
 */
export interface Ledger {
  /**
   * Tickets are about to be created, all or none. Not called where others create tickets, and this process loads them.
   * @throws {Unavailable} and none is created
   */
  created?(records: readonly TicketRecord[]): void
  /** A ticket was cancelled, or its match is over. */
  ended?(ticketId: string): void
  /** A ticket has changed: its version has grown by one. Not called when a ticket is created or loaded. */
  changed(ticket: Ticket): void
  /**
   * A server was created for a match of these players: what `maxServersPerPlayer` counts. A further attempt for lack of
   * capacity does not count.
   */
  served(playerIds: readonly string[]): void
  /** A cooldown of a player has begun, has become longer, or (undefined) is kept no longer. */
  cooldownChanged(playerId: string, name: string, state: CooldownState | undefined): void
  /**
   * A backfill was opened or has changed.
   * @param text what `loadBackfills` takes; undefined: the backfill is not open any more. It holds attributes that a
   *   game has told of players, and no address.
   */
  backfillChanged(backfillId: string, text: string | undefined): void
}
