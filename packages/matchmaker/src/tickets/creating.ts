import { ticketOf } from './ticket-view.js'
import { admit, entriesOf, refuseOther, type Admitted, type Admitting, type PastOfTicket } from './admission.js'
import type { CheckedTicket } from './checked-ticket.js'
import type { Ledger } from './ledger.js'
import type { Place } from './locating.js'
import type { PlayerIndex } from './player-index.js'
import { isPrivate, type PrivateMatches } from './private-matches.js'
import type { TicketRecord } from './records.js'
import type { Searching } from './searching.js'
import { refuseTicket } from './ticket-input.js'
import type { TicketListener } from './ticket-events.js'
import type { Ticket } from './ticket.js'

/** Creates tickets that were checked. */
export interface Creating {
  /** See `Tickets.create`. */
  create(ticket: CheckedTicket, past?: PastOfTicket): Ticket
  /** See `Tickets.createTogether`. */
  createTogether(tickets: readonly CheckedTicket[]): readonly Ticket[]
}

export interface CreatingOptions {
  readonly byId: Map<string, TicketRecord>
  readonly players: Pick<PlayerIndex, 'add'>
  readonly privateMatches: Pick<PrivateMatches, 'add'>
  readonly searching: Pick<Searching, 'settle'>
  /** What decides who may wait, as it is now. */
  readonly admitting: () => Admitting
  /** The place of a ticket was found. */
  readonly located: (record: TicketRecord, place: Place) => void
  readonly ledger: Pick<Ledger, 'created'> | undefined
  readonly events: TicketListener
}

export function createCreating(options: CreatingOptions): Creating {
  const { byId, players, privateMatches, searching, admitting, located, ledger, events } = options

  const begin = ({ record, found, now }: Admitted, entries: ReturnType<typeof entriesOf>): Ticket => {
    byId.set(record.id, record)
    players.add(record)
    if (isPrivate(record)) privateMatches.add(record)
    searching.settle(record, now, entries)
    void found?.then((place) => located(record, place))
    const created = ticketOf(record)
    events.emit('ticketCreated', { ticket: created })
    // A listener may have cancelled the ticket.
    return record.version === created.version ? created : ticketOf(record)
  }

  return {
    create: (ticket, past) => {
      const before = ticket.id === undefined ? undefined : byId.get(ticket.id)
      if (before !== undefined) {
        refuseOther(before, ticket)
        // A ticket that was handed over may come back.
        if (past === undefined || before.cancelReason !== 'handed-over') return ticketOf(before)
      }
      const admitted = admit(ticket, past, admitting())
      const { record } = admitted
      const entries = isPrivate(record) ? undefined : entriesOf(record)
      if (before !== undefined) record.version = before.version + 1
      ledger?.created?.([record])
      return begin(admitted, entries)
    },

    createTogether: (tickets) => {
      const before = tickets.map(({ id }) => byId.get(id ?? ''))
      if (before.some((record) => record !== undefined)) {
        for (const [index, ticket] of tickets.entries()) {
          const known = before[index]
          const { team, tickets: count } = known?.privateSeat ?? {}
          const isSame = team === ticket.privateSeat?.team && count === tickets.length
          if (known === undefined || !isSame) throw refuseTicket('id', 'id: is that of other tickets')
          refuseOther(known, ticket)
        }
        return before.flatMap((record) => (record === undefined ? [] : ticketOf(record)))
      }
      // None of them exists before all of them may.
      const admitted = tickets.map((ticket) => admit(ticket, undefined, admitting()))
      ledger?.created?.(admitted.map(({ record }) => record))
      return admitted.map((one) => begin(one, undefined))
    },
  }
}
