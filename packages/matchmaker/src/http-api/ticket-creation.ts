import { Problem } from '@muster/core/http'
import { inputProblem, problemDocument, validate, whenKnown, type Awaitable } from '@muster/core/internal'
import type { TicketResult } from '../matches/index.js'
import type { Player } from '@muster/hosting/internal'
import type { Ticket, TicketInput } from '../tickets/index.js'
import { TicketBody, type PartyBody } from './bodies.js'
import { assertOwnKeys, type ReadPlayer, type RequestSender } from './read-player.js'
import { problemOf } from './problems.js'
import type { BatchItem, TicketView } from './schemas.js'
import type { TicketService } from '../commands.js'
import { partyViews, ticketView } from './ticket-views.js'

/** Creates tickets from request bodies. */
export interface TicketCreation {
  one(body: TicketBody, sender: RequestSender): Awaitable<TicketView>
  /** Creates several tickets; each one succeeds or fails by itself. */
  many(bodies: readonly unknown[], sender: RequestSender): Awaitable<{ results: BatchItem[] }>
  party(body: PartyBody, sender: RequestSender): Promise<TicketView[]>
}

/** The ticket that a body describes, or the problem with it. */
type ParsedTicket = TicketInput | Problem

const isInput = (read: ParsedTicket): read is TicketInput => !(read instanceof Problem)

const TICKET_KEYS = ['id', 'priority'] as const

export function createTicketCreation(
  service: Pick<TicketService, 'createTicket' | 'createTickets' | 'estimateWait' | 'joinToken' | 'dateOf'>,
  readPlayer: ReadPlayer,
  onError: (error: unknown) => void,
): TicketCreation {
  /** Returns the matchmaker's input for a ticket: a promise only if something has to be awaited, which is rare. */
  const inputOf = (body: TicketBody, sender: RequestSender): TicketInput | Promise<TicketInput> => {
    assertOwnKeys(body, TICKET_KEYS, sender.caller)
    const { queue, queues } = queuesOf(body)
    const player = readPlayer(body, sender, queues ?? [queue as string])
    return player instanceof Promise ? player.then((one) => inputFor(body, one)) : inputFor(body, player)
  }
  /**
   * Returns the problem of one ticket of a batch. It is not thrown, because other tickets of the batch exist already.
   */
  const refusal = (error: unknown): Problem => {
    if (error instanceof Problem) return error
    const known = problemOf(error, service)
    if (known === undefined) onError(error)
    return known ?? new Problem(500, 'internal-error', 'Internal error. The server log has the cause.')
  }
  const viewOf = (ticket: Ticket): TicketView => ticketView({ ticket, index: 0 }, service, service)
  const create = (input: TicketInput) => whenKnown(service.createTicket(input), viewOf)
  const readOne = (value: unknown, sender: RequestSender): Awaitable<ParsedTicket> => {
    const body = readBody(value)
    if (body instanceof Problem) return body
    try {
      const input = inputOf(body, sender)
      return input instanceof Promise ? input.catch(refusal) : input
    } catch (error) {
      return refusal(error)
    }
  }

  return {
    one: (body, sender) => {
      const input = inputOf(body, sender)
      return input instanceof Promise ? input.then(create) : create(input)
    },

    many: (bodies, sender) => {
      const read = bodies.map((body) => readOne(body, sender))
      const areRead = read.some((one) => one instanceof Promise) ? Promise.all(read) : (read as ParsedTicket[])
      return whenKnown<ParsedTicket[], ReturnType<TicketCreation['many']>>(areRead, (inputs) =>
        whenKnown(service.createTickets(inputs.filter(isInput)), (created) => {
          let next = 0
          const results = inputs.map((input): BatchItem => {
            const { ticket, error } = isInput(input) ? (created[next++] as TicketResult) : { error: input }
            return ticket === undefined ? { error: problemDocument(refusal(error)) } : { ticket: viewOf(ticket) }
          })
          return { results }
        }),
      )
    },

    party: async ({ id, priority, player_tickets: bodies }, sender) => {
      const [first, ...others] = bodies.map(queuesOf)
      const names = first?.queues ?? [first?.queue ?? '']
      const differs = others.findIndex((one) => JSON.stringify(one) !== JSON.stringify(first))
      if (differs !== -1) {
        const field = `player_tickets.${differs + 1}.profile`
        throw new Problem(400, 'invalid-input', `${field}: must be that of the first player`, { field })
      }
      const players = await Promise.all(bodies.map((body) => readPlayer(body, sender, names)))
      try {
        return partyViews(await service.createTicket({ id, ...first, players, priority }), service, service)
      } catch (error) {
        throw problemOf(error, service, true) ?? error
      }
    },
  }
}

function readBody(value: unknown): TicketBody | Problem {
  const read = validate(TicketBody, value)
  return read.success ? read.data : inputProblem(read.fault)
}

function queuesOf({
  profile,
  profiles,
}: Pick<TicketBody, 'profile' | 'profiles'>): Pick<TicketInput, 'queue' | 'queues'> {
  if ((profile === undefined) === (profiles === undefined)) {
    throw new Problem(400, 'invalid-input', 'profile: must be given unless profiles is given', { field: 'profile' })
  }
  return profile === undefined ? { queues: profiles } : { queue: profile }
}

const inputFor = ({ id, profile, profiles, priority }: TicketBody, player: Player): TicketInput => ({
  id,
  queue: profile,
  queues: profiles,
  players: [player],
  priority,
})
