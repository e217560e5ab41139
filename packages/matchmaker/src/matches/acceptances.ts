import type { TicketRecord } from '../tickets/records.js'
import type { Tickets } from '../tickets/tickets.js'

/** Tickets whose players are asked to accept a match and have not all answered. */
export interface Acceptances {
  /** Asks the players of a ticket. */
  expect(record: TicketRecord): void
  /** Notes that these players accept. Returns those who had not accepted before. */
  accept(record: TicketRecord, playerIds: readonly string[]): readonly string[]
  /** The ticket has left the match. */
  forget(record: TicketRecord): void
  isPending(record: TicketRecord): boolean
  /** Tickets whose time to accept is over. */
  overdue(now: number): TicketRecord[]
}

export function createAcceptances(tickets: Pick<Tickets, 'setAcceptance'>): Acceptances {
  const pending = new Set<TicketRecord>()
  return {
    expect: (record) => void pending.add(record),
    accept: (record, playerIds) => {
      const acceptance = record.seat?.acceptance
      if (acceptance === undefined) return []
      const more = playerIds.filter((id) => !acceptance.accepted.includes(id))
      if (more.length === 0) return []
      const accepted = [...acceptance.accepted, ...more]
      if (accepted.length === record.players.length) pending.delete(record)
      tickets.setAcceptance(record, { until: acceptance.until, accepted })
      return more
    },
    forget: (record) => void pending.delete(record),
    isPending: (record) => pending.has(record),
    overdue: (now) => Array.from(pending).filter(({ seat }) => (seat?.acceptance?.until ?? now) <= now),
  }
}
