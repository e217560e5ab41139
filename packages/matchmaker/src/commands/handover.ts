import { InvalidInput, MusterError } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { z } from 'zod'
import type { Matchmaker } from './matchmaker.js'
import { read } from '@muster/core/validation'
import type { PrivateSeat } from '../tickets/checked-ticket.js'
import type { TicketRecord } from '../tickets/records.js'
import { coordinates, readTicketInput } from '../tickets/ticket-input.js'
import type { Ticket } from '../tickets/ticket.js'
import type { Tickets } from '../tickets/tickets.js'
import type { ExportedTicket, Imported, TicketSnapshot } from './snapshot.js'

/**
 * The snapshot's shape. The fields of each ticket are checked later, one by one, so that a bad ticket is refused alone.
 */
const snapshotSchema = z.object({
  format: z.literal('muster-tickets-1'),
  exportedAt: z.number(),
  tickets: z.array(z.looseObject({})),
})

const privateSeat: z.ZodType<PrivateSeat> = z.strictObject({
  id: z.string(),
  team: z.string(),
  tickets: z.int().min(1),
  asks: z.boolean(),
})

const past = z.object({
  createdAt: z.number().min(0),
  attempts: z.int().min(0),
  privateSeat: privateSeat.optional(),
  place: coordinates.optional(),
})

const exported = (record: TicketRecord): ExportedTicket => ({
  id: record.id,
  queues: record.queues,
  players: record.players,
  priority: record.priority,
  createdAt: record.createdAt,
  attempts: record.attempts,
  privateSeat: record.privateSeat,
  place: record.place,
})

export interface Handover {
  readonly tickets: Tickets
  readonly clock: Clock
  /** @throws {MatchmakerClosed} */
  readonly refuseIfClosed: () => void
}

/** Creates the commands that hand waiting tickets from one matchmaker to another. */
export function createHandover({
  tickets,
  clock,
  refuseIfClosed,
}: Handover): Pick<Matchmaker, 'exportTickets' | 'importTickets'> {
  const take = (given: ExportedTicket): Ticket => {
    const { id, queues, players, priority } = given
    const before = read(past, given, (field, message) => new InvalidInput(`ticket: ${message}`, { field }))
    const checked = readTicketInput({ id, queues, players, priority })
    return tickets.create({ ...checked, privateSeat: before.privateSeat }, { ...before, place: before.place })
  }

  return {
    exportTickets: ({ take: takes = false } = {}) => {
      const now = clock.now()
      const records = Array.from(tickets.all()).filter(({ status }) => status === 'SEARCHING')
      const snapshot: TicketSnapshot = {
        format: 'muster-tickets-1',
        exportedAt: Math.floor(now),
        tickets: records.map(exported),
      }
      if (takes) for (const record of records) tickets.cancel(record, 'handed-over', now)
      return snapshot
    },

    importTickets: (snapshot) => {
      refuseIfClosed()
      const checked = read(
        snapshotSchema,
        snapshot,
        (field, message) => new InvalidInput(`snapshot: ${message}`, { field }),
      )
      const taken: Ticket[] = []
      const refused: Imported['refused'][number][] = []
      for (const ticket of checked.tickets as unknown as readonly ExportedTicket[]) {
        try {
          taken.push(take(ticket))
        } catch (error) {
          if (!(error instanceof MusterError)) throw error
          refused.push({ ticket, error })
        }
      }
      return { tickets: taken, refused }
    },
  }
}
