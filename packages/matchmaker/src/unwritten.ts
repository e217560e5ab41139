import type { Store } from '@muster/hosting'
import { Unavailable } from './errors.js'
import type { Ledger } from './tickets/index.js'

/**
 * While a store cannot be written, the matchmaker goes on in memory, and a restart goes back to what the store has. A
 * ticket whose changes are not written is not told: else its version would go back, and a client that waits for another
 * one could miss a change.
 */
export function createUnwritten(store: Pick<Store, 'flush' | 'isFailing'>) {
  /** Ids of tickets that have changed since all was written. */
  const changed = new Set<string>()
  const settle = () => {
    if (changed.size === 0) return
    store.flush()
    if (!store.isFailing()) changed.clear()
  }
  return {
    /** Notes that all is written, if it is. */
    settle,
    /** The ledger, whose changes of tickets are noted. */
    noting: <Given extends Required<Pick<Ledger, 'changed' | 'ended'>>>(ledger: Given): Given => ({
      ...ledger,
      changed: (ticket) => {
        changed.add(ticket.id)
        ledger.changed(ticket)
      },
      ended: (ticketId) => {
        changed.add(ticketId)
        ledger.ended(ticketId)
      },
    }),
    /** @throws {Unavailable} if something that has happened to one of these tickets is not written */
    assertWritten: (ticketIds: readonly string[]) => {
      settle()
      if (ticketIds.some((id) => changed.has(id)))
        throw new Unavailable(
          'The store cannot be written, so a restart may undo what has happened. Retry in a second.',
        )
    },
  }
}
