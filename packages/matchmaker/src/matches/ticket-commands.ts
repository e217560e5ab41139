import { MusterError } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { NothingToAccept, AlreadyAssigned, UnknownTicket } from '../errors.js'
import type { Offence } from '../queues/index.js'
import type { Matchmaker, TicketResult } from './matchmaker.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import {
  ticketOf,
  type TicketRecord,
  type CancelReason,
  type TicketInput,
  type PlayedBy,
  notePresent,
  readTicketInput,
  readWaitOptions,
  assertPlayerOfTicket,
  type Cooldowns,
  type TicketStore,
} from '../tickets/index.js'

export interface TicketCommandsContext {
  readonly tickets: TicketStore
  readonly lifecycle: MatchLifecycle
  readonly playedBy: PlayedBy
  readonly cooldowns: Pick<Cooldowns, 'count'>
  readonly clock: Clock
  /** Checks that the matchmaker is open. @throws {MatchmakerClosed} */
  readonly assertNotClosed: () => void
}

/** Creates the commands about tickets, of players or of backends that act for them. */
export function createTicketCommands({
  tickets,
  lifecycle,
  playedBy,
  cooldowns,
  clock,
  assertNotClosed,
}: TicketCommandsContext) {
  const known = (id: string): TicketRecord => {
    const record = tickets.find(id)
    if (record === undefined)
      throw new UnknownTicket(`There is no ticket ${JSON.stringify(id)}. It may have ended and been removed.`)
    return record
  }

  const create = (input: TicketInput) => tickets.create(readTicketInput(input))

  const tryCreating = (input: TicketInput): TicketResult => {
    try {
      return { ticket: create(input) }
    } catch (error) {
      if (error instanceof MusterError) return { error }
      throw error
    }
  }

  const leave = (record: TicketRecord, reason: CancelReason) => {
    if (record.status === 'MATCH_FOUND') lifecycle.leave(record, reason, clock.now())
    else tickets.cancel(record, reason, clock.now())
  }

  /** Counts an offence against players who leave a found match. */
  const countOffence = ({ seat }: TicketRecord, playerIds: readonly string[], offence: Offence) => {
    if (seat !== undefined) cooldowns.count(seat.match.queue, playerIds, offence, clock.now())
  }

  /** Returns the ticket and the players who accept or decline. */
  const answering = (
    ticketId: string,
    playerId: string | undefined,
    matchId: string | undefined,
  ): { readonly record: TicketRecord; readonly playerIds: readonly string[] } => {
    const record = known(ticketId)
    if (playerId !== undefined) assertPlayerOfTicket(record, playerId)
    const all = record.players.map(({ id }) => id)
    const seated = record.status === 'CANCELLED' ? undefined : record.seat?.match.matchId
    if (seated === undefined || (matchId ?? seated) !== seated) throw new NothingToAccept(ticketId)
    return { record, playerIds: playerId === undefined ? all : [playerId] }
  }

  return {
    createTicket: (input) => {
      assertNotClosed()
      return create(input)
    },
    createTickets: (inputs) => {
      assertNotClosed()
      return inputs.map(tryCreating)
    },
    getTicket: (id) => {
      const record = tickets.find(id)
      return record && ticketOf(record)
    },
    findPlayer: (playerId) => {
      const records = tickets.ofPlayer(playerId).toSorted((one, other) => one.createdAt - other.createdAt)
      const played = playedBy(playerId)
      const match = played && { matchId: played.matchId, queue: played.queue, assignment: played.assignment }
      return { tickets: records.map(ticketOf), match }
    },
    notePresence: (reports) => {
      const now = clock.now()
      for (const { ticketId, playerId } of reports) {
        const record = tickets.find(ticketId)
        if (record !== undefined) notePresent(record, playerId, now)
      }
    },
    waitForChange: async (ticketId, options) => tickets.change(known(ticketId), readWaitOptions(options)),

    longestWaiting: (limit) => {
      const searching: TicketRecord[] = []
      for (const record of tickets.all()) if (record.status === 'SEARCHING') searching.push(record)
      const oldestFirst = () => searching.toSorted((one, other) => one.createdAt - other.createdAt)
      const longest = limit === 0 ? [] : oldestFirst().slice(0, limit)
      return { total: searching.length, tickets: longest.map(ticketOf) }
    },

    cancelTicket: (id, playerId) => {
      const record = known(id)
      if (playerId !== undefined) assertPlayerOfTicket(record, playerId)
      if (record.status === 'HOST_ASSIGNED') throw new AlreadyAssigned(id, record.seat?.match.matchId ?? '')
      if (record.status === 'MATCH_FOUND' && playerId !== undefined) {
        const isAsked = record.seat?.acceptance?.accepted.includes(playerId) === false
        countOffence(record, [playerId], isAsked ? 'declined' : 'left')
      }
      leave(record, 'cancelled')
      return ticketOf(record)
    },

    acceptMatch: (ticketId, playerId, matchId) => {
      const { record, playerIds } = answering(ticketId, playerId, matchId)
      // Once all have accepted, nobody is asked any more. Then the last of them may repeat a request without an answer.
      if (record.seat?.match.queue.acceptance === undefined) throw new NothingToAccept(ticketId)
      lifecycle.accept(record, playerIds, clock.now())
      return ticketOf(record)
    },
    declineMatch: (ticketId, playerId, matchId) => {
      const { record, playerIds } = answering(ticketId, playerId, matchId)
      if (record.status !== 'MATCH_FOUND' || record.seat?.acceptance === undefined) throw new NothingToAccept(ticketId)
      countOffence(record, playerIds, 'declined')
      leave(record, 'declined')
      return ticketOf(record)
    },
  } satisfies Partial<Matchmaker>
}
