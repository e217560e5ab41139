import { InvalidMatch, PlayerBusy, type MatchInput, type PrivateMatch, type Ticket } from '@muster/matchmaker'
import { privateSeatOf, type Creatable, type TicketChecker } from '@muster/matchmaker/partition'
import { PartitionFull } from '../errors.js'
import type { CreateOutcome, NewTicket, PartitionStore, StoredTicket } from '../store/store.js'
import { viewOf } from '../stored-view.js'
import { createPermitted } from './permitted.js'

export interface CreateMatchOptions {
  readonly store: Pick<PartitionStore, 'createTogether' | 'read'>
  readonly checker: TicketChecker
  /** Called with each ticket that was created. */
  readonly created: (ticket: Ticket) => void
}

/** How often a match is tried again while other tickets of its players change. */
const TRIES = 5
/** Milliseconds after which a caller may try again: tickets end all the time. */
const FULL_RETRY_MS = 5000

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
      throw new InvalidMatch('match: id: is that of a match of other teams, or of other tickets', { field: 'id' })
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
        throw new PartitionFull('the partition holds as many tickets as it may', { retryAfterMs: FULL_RETRY_MS })
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
