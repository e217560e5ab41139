import type { Store } from '@muster/hosting'
import { Unavailable } from './errors.js'
import type { Ledger } from './tickets/index.js'

/**
 * While a store cannot be written, the matchmaker works in memory, and a restart falls back to the store. Changes that
 * are not written are not shown to clients. Otherwise a ticket's version could go back, and a client that waits for the
 * next version could miss a change.
 */
export function createUnwritten(store: Pick<Store, 'flush' | 'isFailing'>) {
  /** Ids of tickets that have changed since the last successful write. */
  const changed = new Set<string>()
  const settle = () => {
    if (changed.size === 0) return
    store.flush()
    if (!store.isFailing()) changed.clear()
  }
  return {
    /** Flushes the store. If everything was written, forgets the ids of changed tickets. */
    settle,
    /** Returns the ledger, extended so that `changed` records the ids of changed tickets. */
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
    /**
     * Checks that all changes of these tickets are written.
     * @throws {Unavailable} if a change of one of these tickets is not written
     */
    assertWritten: (ticketIds: readonly string[]) => {
      settle()
      if (ticketIds.some((id) => changed.has(id)))
        throw new Unavailable(
          'The store cannot be written, so a restart may undo what has happened. Retry in a second.',
        )
    },
  }
}
