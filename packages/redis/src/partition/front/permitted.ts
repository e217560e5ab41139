import type { Creatable, OtherTicket, TicketChecker } from '@muster/matchmaker/partition'
import type { PartitionStore, PlayerTickets } from '../store/store.js'
import { viewOf } from '../stored-view.js'

export interface PermittedOptions {
  readonly store: Pick<PartitionStore, 'read'>
  readonly checker: Pick<TicketChecker, 'permit'>
}

/**
 * Finds the tickets of busy players that permit another one.
 * @throws as `permit` of the checker
 */
export type Permitted = (
  ticket: Creatable,
  busy: readonly PlayerTickets[],
) => Promise<ReadonlyMap<string, readonly string[]>>

export function createPermitted({ store, checker }: PermittedOptions): Permitted {
  return async (ticket, busy) => {
    const ids = busy.flatMap(({ ticketIds }) => ticketIds)
    const stored = await store.read(ids)
    const others = new Map(stored.flatMap((one) => (one === undefined ? [] : [[one.id, viewOf(one)] as const])))
    const ofPlayer = ({ playerId, ticketIds }: PlayerTickets): OtherTicket[] =>
      ticketIds.flatMap((id) => {
        const other = others.get(id)
        return other === undefined ? [] : [{ playerId, ticket: other }]
      })
    checker.permit(ticket, busy.flatMap(ofPlayer))
    return new Map(busy.map(({ playerId, ticketIds }) => [playerId, ticketIds]))
  }
}
