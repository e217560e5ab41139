import type { TicketRecord } from './records.js'

/** Tickets that have ended, which can be read for a while. */
export interface EndedTickets {
  /** From now on the ticket is kept for `keepEndedMs`. */
  add(record: TicketRecord, now: number): void
  /** Removes tickets that ended longer ago than `keepEndedMs`. */
  advance(now: number): void
}

/** @param told of the id of each. */
export function createEndedTickets(
  byId: Map<string, TicketRecord>,
  keepEndedMs: number,
  told: ((ticketId: string) => void) | undefined,
): EndedTickets {
  /** In the order of their ends. */
  const ended: TicketRecord[] = []
  return {
    add: (record, now) => {
      record.endedAt = now
      ended.push(record)
      told?.(record.id)
    },
    advance: (now) => {
      const kept = ended.findIndex((record) => now - (record.endedAt ?? now) < keepEndedMs)
      for (const record of ended.splice(0, kept === -1 ? ended.length : kept)) {
        // Another ticket may have been created by its id.
        if (byId.get(record.id) === record) byId.delete(record.id)
      }
    },
  }
}
