import { MusterError } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import {
  InvalidMatch,
  type MatchInput,
  PlayerBusy,
  PlayerCoolingDown,
  type PrivateMatch,
  type Ticket,
  type TicketInput,
  type TicketResult,
} from '@muster/matchmaker'
import { type CheckedNewTicket, type OtherTicket, privateSeatOf, type TicketChecker } from '@muster/matchmaker/internal'
import { cooldownKey, readCooldown, viewOf } from '../notes.js'
import { PartitionFull, PartitionUnavailable } from '../partition-errors.js'
import type { TicketCreateOutcome, NewTicket, PartitionStore, PlayerTickets, StoredTicket } from '../store/index.js'

interface TicketCreationOptions {
  readonly store: Pick<PartitionStore, 'create' | 'createTogether' | 'read' | 'readPartitionRecords'>
  readonly checker: TicketChecker
  /** Rejects if only this process has the queue, or only the leader. @throws {PartitionUnavailable} */
  readonly assertAgreed: (queue: string) => Promise<void>
  /** Called with each created ticket, and its stored form unless it is a ticket of a private match. */
  readonly created: (ticket: Ticket, stored?: StoredTicket) => void
  readonly clock: Pick<Clock, 'now'>
}

/** Number of attempts for a ticket while other tickets of its players change. */
const TRIES = 5
/** Milliseconds after which a client may retry, because tickets end all the time. */
const FULL_RETRY_MS = 5000
const partitionFull = () =>
  new PartitionFull('The partition holds as many tickets as it may. Retry later.', { retryAfterMs: FULL_RETRY_MS })

const NONE: ReadonlyMap<CheckedNewTicket, PlayerCoolingDown> = new Map()

/** Creates tickets in the store, single ones or those of private matches. */
export function createTicketCreation({ store, checker, assertAgreed, created: tell, clock }: TicketCreationOptions) {
  /**
   * Checks that busy players may have another ticket. Returns the ids of each player's tickets.
   * @throws like `permit` of the checker; {PlayerBusy} at the last attempt
   */
  const permitted = async (ticket: CheckedNewTicket, busy: readonly PlayerTickets[], tries: number) => {
    const stored = await store.read(busy.flatMap(({ ticketIds }) => ticketIds))
    const others = new Map(stored.flatMap((one) => (one === undefined ? [] : [[one.id, viewOf(one)] as const])))
    const ofPlayer = ({ playerId, ticketIds }: PlayerTickets): OtherTicket[] =>
      ticketIds.flatMap((id) => {
        const other = others.get(id)
        return other === undefined ? [] : [{ playerId, ticket: other }]
      })
    checker.permit(ticket, busy.flatMap(ofPlayer))
    const [first] = busy
    if (tries === TRIES && first !== undefined) throw new PlayerBusy(first.playerId, first.ticketIds[0] ?? '')
    return new Map(busy.map(({ playerId, ticketIds }) => [playerId, ticketIds]))
  }

  /**
   * Finds the new tickets whose players are on cooldown, as the leader has recorded. Leaves out tickets that exist
   * already, because their create is a repetition.
   */
  const coolingDownOf = async (
    tickets: readonly CheckedNewTicket[],
  ): Promise<ReadonlyMap<CheckedNewTicket, PlayerCoolingDown>> => {
    const questions = tickets.flatMap((ticket) =>
      checker
        .cooldownsIn(ticket.queues)
        .flatMap(({ queue, name }) =>
          ticket.players.map(({ id }) => ({ ticket, queue, playerId: id, key: cooldownKey(name, id) })),
        ),
    )
    if (questions.length === 0) return NONE
    const texts = await store.readPartitionRecords(questions.map(({ key }) => key))
    const now = clock.now()
    const kept = new Map<CheckedNewTicket, PlayerCoolingDown>()
    for (const [index, { ticket, queue, playerId }] of questions.entries()) {
      const text = texts[index]
      const until = text === undefined ? 0 : readCooldown(text).until
      if (now < until && !kept.has(ticket)) kept.set(ticket, new PlayerCoolingDown(playerId, queue, until, now))
    }
    if (kept.size === 0) return NONE
    const known = await store.read(Array.from(kept.keys(), ({ id }) => id))
    for (const [index, ticket] of [...kept.keys()].entries()) if (known[index] !== undefined) kept.delete(ticket)
    return kept
  }

  const resultOf = async (input: CheckedNewTicket, ticket: NewTicket, first: TicketCreateOutcome): Promise<Ticket> => {
    let outcome: TicketCreateOutcome | undefined = first
    for (let tries = 1; ; tries += 1) {
      switch (outcome?.kind) {
        case 'created': {
          const { createdAt } = outcome
          const made = checker.created(input, createdAt)
          tell(made, { id: input.id, body: input.body, createdAt, header: undefined })
          return made
        }
        case 'exists': {
          const view = viewOf(outcome.ticket)
          checker.assertSameTicket(view, input)
          return view
        }
        case 'busy': {
          const seen = await permitted(input, outcome.players, tries)
          ;[outcome] = await store.create([{ ...ticket, permitted: seen }])
          break
        }
        default:
          throw partitionFull()
      }
    }
  }

  const checkedInput = async (input: TicketInput): Promise<CheckedNewTicket> => {
    for (const queue of queuesIn(input)) await assertAgreed(queue)
    return checker.check(input)
  }

  /** Creates tickets; returns a result for each, in order. @throws {PartitionUnavailable} if Redis takes none */
  const createTickets = async (inputs: readonly TicketInput[]): Promise<readonly TicketResult[]> => {
    const read = await Promise.all(inputs.map((input) => orError(() => checkedInput(input))))
    const coolingDown = await coolingDownOf(read.filter(isTicket))
    const resultFor = async (one: CheckedNewTicket | MusterError): Promise<TicketResult> => {
      const refused = one instanceof MusterError ? one : coolingDown.get(one)
      if (refused !== undefined) return { error: refused }
      const input = one as CheckedNewTicket
      const ticket = newTicket(input)
      try {
        // The store sends all of this turn together, and refuses a ticket that is too long alone.
        const [outcome] = await store.create([ticket])
        return { ticket: await resultOf(input, ticket, outcome as TicketCreateOutcome) }
      } catch (error) {
        if (error instanceof MusterError) return { error }
        throw error
      }
    }
    const results = await Promise.all(read.map(resultFor))
    // If Redis has answered nothing, the whole batch can be repeated.
    const errors = results.map(({ error }) => error)
    if (errors.every((error) => error instanceof PartitionUnavailable) && errors.length > 0) throw errors[0]
    return results
  }

  /** Returns the tickets of an existing match. @throws {InvalidMatch} if they differ from the given ones */
  const existing = (tickets: readonly CheckedNewTicket[], found: readonly StoredTicket[]): readonly Ticket[] =>
    tickets.map((ticket, index) => {
      const stored = found[index]
      if (stored !== undefined && isSame(ticket, viewOf(stored), privateSeatOf(stored))) return viewOf(stored)
      throw new InvalidMatch('match: id: already belongs to a match with different teams or tickets. Use a new id.', {
        field: 'id',
      })
    })

  const createTogether = async (tickets: readonly CheckedNewTicket[]): Promise<readonly Ticket[]> => {
    let given: readonly NewTicket[] = tickets.map(newTicket)
    for (let tries = 1; ; tries += 1) {
      const outcomes = await store.createTogether(given)
      const [first] = outcomes
      if (first?.kind === 'created') {
        const made = tickets.map((ticket) => checker.created(ticket, first.createdAt))
        for (const ticket of made) tell(ticket)
        return made
      }
      const found = outcomes.flatMap((outcome) => (outcome.kind === 'exists' ? outcome.ticket : []))
      if (found.length > 0) return existing(tickets, found)
      if (outcomes.some(({ kind }) => kind === 'full')) throw partitionFull()
      given = await Promise.all(
        given.map(async (ticket, index): Promise<NewTicket> => {
          const outcome = outcomes[index]
          if (outcome?.kind !== 'busy') return ticket
          return { ...ticket, permitted: await permitted(tickets[index] as CheckedNewTicket, outcome.players, tries) }
        }),
      )
    }
  }

  /**
   * Makes a match of given players: stores their tickets. The leader begins the match once it has loaded all of them.
   */
  const createMatch = async (input: MatchInput): Promise<PrivateMatch> => {
    for (const queue of queuesIn(input)) await assertAgreed(queue)
    const { id, tickets } = checker.checkMatch(input)
    return { id, tickets: await createTogether(tickets) }
  }
  return { createTickets, createMatch }
}

const isTicket = (one: CheckedNewTicket | MusterError): one is CheckedNewTicket => !(one instanceof MusterError)

/** Returns the names of queues in an input that is not validated yet. */
function queuesIn(input: unknown): readonly string[] {
  const { queue, queues } = Object(input) as { readonly queue?: unknown; readonly queues?: unknown }
  return [queue, ...(Array.isArray(queues) ? queues : [])].filter((name) => typeof name === 'string')
}

/** Returns the result, or the error with which the work rejects. */
async function orError<T>(work: () => Promise<T>): Promise<T | MusterError> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MusterError) return error
    throw error
  }
}

const newTicket = ({ id, body, players }: CheckedNewTicket): NewTicket => ({ id, body, players: idsOf(players) })

const idsOf = (players: readonly { readonly id: string }[]) => players.map(({ id }) => id)

function isSame(ticket: CheckedNewTicket, { queues, players }: Ticket, seat: CheckedNewTicket['privateSeat']): boolean {
  const { team, tickets } = ticket.privateSeat ?? {}
  const ofSameMatch = seat?.team === team && seat?.tickets === tickets && queues.join() === ticket.queues.join()
  return ofSameMatch && JSON.stringify(idsOf(players)) === JSON.stringify(idsOf(ticket.players))
}
