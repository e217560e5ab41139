import { MusterError } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { PlayerBusy, type Ticket, type TicketInput, type TicketResult } from '@muster/matchmaker'
import type { Creatable, TicketChecker } from '@muster/matchmaker/partition'
import { PartitionFull } from '../errors.js'
import { viewOf } from '../stored-view.js'
import { createPermitted } from './permitted.js'
import { createFindCoolingDown } from './cooling-down.js'
import type { CreateOutcome, NewTicket, PartitionStore, StoredTicket } from '../store/store.js'

export interface CreateTicketsOptions {
  readonly store: Pick<PartitionStore, 'create' | 'read' | 'readNotes'>
  readonly checker: TicketChecker
  /** Called with each ticket that was created. */
  readonly created: (stored: StoredTicket, ticket: Ticket) => void
  readonly clock: Pick<Clock, 'now'>
}

/** Creates tickets; a result for each, in order. */
export type CreateTickets = (inputs: readonly TicketInput[]) => Promise<readonly TicketResult[]>

/** How often a ticket is tried again while the other tickets of its players change. */
const TRIES = 5
/** Milliseconds after which a client may try again: tickets end all the time. */
const FULL_RETRY_MS = 5000

export function createTicketCreation({ store, checker, created, clock }: CreateTicketsOptions): CreateTickets {
  const findCoolingDown = createFindCoolingDown({ store, checker, clock })
  const permitted = createPermitted({ store, checker })

  const told = (input: Creatable, createdAt: number): Ticket => {
    const ticket = checker.created(input, createdAt)
    created({ id: input.id, body: input.body, createdAt, header: undefined }, ticket)
    return ticket
  }

  const resultOf = async (input: Creatable, ticket: NewTicket, first: CreateOutcome): Promise<Ticket> => {
    let outcome: CreateOutcome | undefined = first
    for (let tries = 1; ; tries += 1) {
      switch (outcome?.kind) {
        case 'created':
          return told(input, outcome.createdAt)
        case 'exists': {
          const view = viewOf(outcome.ticket)
          checker.refuseOther(view, input)
          return view
        }
        case 'busy': {
          const seen = await permitted(input, outcome.players)
          const [busy] = outcome.players
          if (tries === TRIES && busy !== undefined) throw new PlayerBusy(busy.playerId, busy.ticketIds[0] ?? '')
          ;[outcome] = await store.create([{ ...ticket, permitted: seen }])
          break
        }
        default:
          throw new PartitionFull('the partition holds as many tickets as it may', { retryAfterMs: FULL_RETRY_MS })
      }
    }
  }

  const checked = (input: TicketInput): Creatable | MusterError => {
    try {
      return checker.check(input)
    } catch (error) {
      if (error instanceof MusterError) return error
      throw error
    }
  }

  return async (inputs) => {
    const read = inputs.map(checked)
    const coolingDown = await findCoolingDown(read.filter((one): one is Creatable => !(one instanceof MusterError)))
    const all = read.map((one) => (one instanceof MusterError ? one : (coolingDown.get(one) ?? one)))
    const good = all.filter((one): one is Creatable => !(one instanceof MusterError))
    const tickets = good.map(
      ({ id, body, players }): NewTicket => ({ id, body, players: players.map((player) => player.id) }),
    )
    const outcomes = tickets.length === 0 ? [] : await store.create(tickets)
    const results = good.map(async (input, index): Promise<TicketResult> => {
      try {
        return { ticket: await resultOf(input, tickets[index] as NewTicket, outcomes[index] as CreateOutcome) }
      } catch (error) {
        if (error instanceof MusterError) return { error }
        throw error
      }
    })
    const settled = (await Promise.all(results))[Symbol.iterator]()
    return all.map((one): TicketResult =>
      one instanceof MusterError ? { error: one } : (settled.next().value as TicketResult),
    )
  }
}
