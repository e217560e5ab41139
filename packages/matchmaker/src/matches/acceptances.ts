import type { TicketRecord } from '../tickets/records.js'
import type { Tickets } from '../tickets/tickets.js'

/** Who has been asked to accept a match, and has not answered yet. */
export interface Acceptances {
  /** It was taken into a match that asks. */
  expect(record: TicketRecord): void
  /** Gives those of them who had not accepted yet. */
  accept(record: TicketRecord, playerIds: readonly string[]): readonly string[]
  /** It is not in the match any more. */
  forget(record: TicketRecord): void
  isPending(record: TicketRecord): boolean
  /** Those whose time is over. */
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
