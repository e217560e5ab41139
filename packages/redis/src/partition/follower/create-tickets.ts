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
import { type Creatable, type OtherTicket, privateSeatOf, type TicketChecker } from '@muster/matchmaker/internal'
import { cooldownKey, readCooldown, viewOf } from '../notes.js'
import { PartitionFull } from '../partition-errors.js'
import type { CreateOutcome, NewTicket, PartitionStore, PlayerTickets, StoredTicket } from '../store/index.js'

interface PermittedOptions {
  readonly store: Pick<PartitionStore, 'read'>
  readonly checker: Pick<TicketChecker, 'permit'>
}

/**
 * Finds the tickets of busy players that permit another one.
 * @throws as `permit` of the checker
 */
type Permitted = (ticket: Creatable, busy: readonly PlayerTickets[]) => Promise<ReadonlyMap<string, readonly string[]>>

function createPermitted({ store, checker }: PermittedOptions): Permitted {
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

interface CoolingDownOptions {
  readonly store: Pick<PartitionStore, 'read' | 'readNotes'>
  readonly checker: Pick<TicketChecker, 'cooldownsIn'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Finds the new tickets whose players may not wait yet, as the leader has noted. A ticket that exists already may be
 * created again.
 */
type FindCoolingDown = (tickets: readonly Creatable[]) => Promise<ReadonlyMap<Creatable, PlayerCoolingDown>>

interface Question {
  readonly ticket: Creatable
  readonly queue: string
  readonly playerId: string
  readonly key: string
}

const NONE: ReadonlyMap<Creatable, PlayerCoolingDown> = new Map()

function createFindCoolingDown({ store, checker, clock }: CoolingDownOptions): FindCoolingDown {
  const questionsOf = (ticket: Creatable): Question[] =>
    checker
      .cooldownsIn(ticket.queues)
      .flatMap(({ queue, name }) =>
        ticket.players.map(({ id }) => ({ ticket, queue, playerId: id, key: cooldownKey(name, id) })),
      )

  return async (tickets) => {
    const questions = tickets.flatMap(questionsOf)
    if (questions.length === 0) return NONE
    const texts = await store.readNotes(questions.map(({ key }) => key))
    const now = clock.now()
    const kept = new Map<Creatable, PlayerCoolingDown>()
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
}

interface CreateTicketsOptions {
  readonly store: Pick<PartitionStore, 'create' | 'read' | 'readNotes'>
  readonly checker: TicketChecker
  /** Called with each ticket that was created. */
  readonly created: (stored: StoredTicket, ticket: Ticket) => void
  readonly clock: Pick<Clock, 'now'>
}

/** Creates tickets; a result for each, in order. */
type CreateTickets = (inputs: readonly TicketInput[]) => Promise<readonly TicketResult[]>

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
          checker.assertSameTicket(view, input)
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
          throw new PartitionFull('The partition holds as many tickets as it may. Retry later.', {
            retryAfterMs: FULL_RETRY_MS,
          })
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
    const tickets = good.map(({ id, body, players }): NewTicket => ({
      id,
      body,
      players: players.map((player) => player.id),
    }))
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

interface CreateMatchOptions {
  readonly store: Pick<PartitionStore, 'createTogether' | 'read'>
  readonly checker: TicketChecker
  /** Called with each ticket that was created. */
  readonly created: (ticket: Ticket) => void
}

const isOfKind =
  <Kind extends CreateOutcome['kind']>(kind: Kind) =>
  (outcome: CreateOutcome): outcome is Extract<CreateOutcome, { readonly kind: Kind }> =>
    outcome.kind === kind

/** Makes matches of given players: their tickets are stored, and the leader begins a match once it has all of them. */
export function createMatchCreation({
  store,
  checker,
  created: tell,
}: CreateMatchOptions): (input: MatchInput) => Promise<PrivateMatch> {
  const permitted = createPermitted({ store, checker })

  /** @throws {InvalidMatch} if the tickets that exist are others */
  const existing = (tickets: readonly Creatable[], found: readonly StoredTicket[]): readonly Ticket[] =>
    tickets.map((ticket, index) => {
      const stored = found[index]
      if (stored !== undefined && isSame(ticket, viewOf(stored), privateSeatOf(stored))) return viewOf(stored)
      throw new InvalidMatch('match: id: already belongs to a match with different teams or tickets. Use a new id.', {
        field: 'id',
      })
    })

  const create = async (tickets: readonly Creatable[]): Promise<readonly Ticket[]> => {
    let given: readonly NewTicket[] = tickets.map(({ id, body, players }) => ({ id, body, players: idsOf(players) }))
    for (let tries = 1; ; tries += 1) {
      const outcomes = await store.createTogether(given)
      const created = outcomes.filter(isOfKind('created'))
      if (created.length > 0) {
        const made = tickets.map((ticket) => checker.created(ticket, created[0]?.createdAt ?? 0))
        for (const ticket of made) tell(ticket)
        return made
      }
      const found = outcomes.flatMap((outcome) => (outcome.kind === 'exists' ? outcome.ticket : []))
      if (found.length > 0) return existing(tickets, found)
      if (outcomes.some(isOfKind('full')))
        throw new PartitionFull('The partition holds as many tickets as it may. Retry later.', {
          retryAfterMs: FULL_RETRY_MS,
        })
      const seen = await Promise.all(
        outcomes.map((outcome, index) =>
          outcome.kind === 'busy' ? permitted(tickets[index] as Creatable, outcome.players) : given[index]?.permitted,
        ),
      )
      const [busy] = outcomes.filter(isOfKind('busy')).flatMap(({ players }) => players)
      if (tries === TRIES && busy !== undefined) throw new PlayerBusy(busy.playerId, busy.ticketIds[0] ?? '')
      given = given.map((ticket, index) => ({ ...ticket, permitted: seen[index] }))
    }
  }

  return async (input) => {
    const { id, tickets } = checker.checkMatch(input)
    return { id, tickets: await create(tickets) }
  }
}

const idsOf = (players: readonly { readonly id: string }[]) => players.map(({ id }) => id)

function isSame(ticket: Creatable, { queues, players }: Ticket, seat: Creatable['privateSeat']): boolean {
  const { team, tickets } = ticket.privateSeat ?? {}
  const ofSameMatch = seat?.team === team && seat?.tickets === tickets && queues.join() === ticket.queues.join()
  return ofSameMatch && JSON.stringify(idsOf(players)) === JSON.stringify(idsOf(ticket.players))
}
