import type { Ticket } from './ticket.js'

/**
 * Told of what must be known beyond this process. Each method is called within the turn of the event loop in which the
 * change happened, after it and in order, so that all changes of a turn can be written together.
 */
export interface Ledger {
  /** A ticket has changed: its version has grown by one. Not called when a ticket is created or loaded. */
  changed(ticket: Ticket): void
  /**
   * A server was created for a match of these players: what `maxServersPerPlayer` counts. A further attempt for lack of
   * capacity does not count.
   */
  served(playerIds: readonly string[]): void
  /**
   * A backfill was opened or has changed.
   * @param text what `loadBackfills` takes; undefined: the backfill is not open any more. It holds attributes that a
   *   game has told of players, and no address.
   */
  backfillChanged(backfillId: string, text: string | undefined): void
}
