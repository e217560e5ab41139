import type { Clock, Random } from '@muster/core/clock'
import type { Assignment } from '../allocation/assignment.js'
import { InvalidTicket, PlayerBusy, UnknownQueue } from '../errors.js'
import type { Events } from '../events.js'
import { newId } from '../ids.js'
import type { Queue } from '../queue.js'
import type { LocatePlayers } from './locating.js'
import { networkOf } from './place.js'
import { ticketOf, type TicketRecord } from './record.js'
import type { CancelReason, ReturnReason, TicketInput, TicketStatus } from './ticket.js'
import { readTicketInput } from './ticket-input.js'

/** All tickets and their lives: every change of a ticket is one of these functions. */
export interface Tickets {
  create(input: TicketInput): TicketRecord
  find(id: string): TicketRecord | undefined
  /** Cancels the overdue, and gives those that may be grouped now. */
  admit(queue: Queue, now: number): TicketRecord[]
  /** A match was found for them all: false, and nothing changed, if one of them does not search any more. */
  match(records: readonly TicketRecord[], matchId: string, now: number): boolean
  /** A match was found, but there may be no server for it now. */
  waitForServers(records: readonly TicketRecord[]): void
  /**
   * Its match came to nothing; one that left the match already stays as it is.
   * @param counts whether that is an attempt that failed.
   */
  putBack(record: TicketRecord, reason: ReturnReason, counts: boolean, now: number): void
  assign(records: readonly TicketRecord[], assignment: Assignment, now: number): void
  /** One that has ended stays as it is. */
  cancel(record: TicketRecord, reason: CancelReason, now: number): void
  cancelSearching(reason: CancelReason, now: number): void
  /** Removes those that ended long enough ago. */
  removeEnded(now: number): void
  all(): Iterable<TicketRecord>
}

export interface TicketsOptions {
  readonly queues: ReadonlyMap<string, Queue>
  readonly locatePlayers: LocatePlayers
  readonly locateTimeoutMs: number
  readonly keepEndedMs: number
  readonly events: Events
  readonly clock: Clock
  readonly random: Random
}

/** Milliseconds before a ticket whose deployment failed is grouped again: what failed now often fails at once. */
const restAfter = (attempts: number) => Math.min(1000 * 2 ** attempts, 15_000)

export function createTickets(options: TicketsOptions): Tickets {
  const { queues, locatePlayers, locateTimeoutMs, keepEndedMs, events, clock, random } = options
  const byId = new Map<string, TicketRecord>()
  /** The ticket that each player is in, as long as it has not ended. */
  const byPlayer = new Map<string, TicketRecord>()
  const searching = new Map<string, Set<TicketRecord>>(Array.from(queues.keys(), (name) => [name, new Set()]))
  /** Those that ended, the first to end first. */
  const ended = new Map<TicketRecord, number>()

  const searchingIn = (queue: string) => searching.get(queue) ?? new Set()

  const end = (record: TicketRecord, status: TicketStatus, now: number) => {
    record.status = status
    searchingIn(record.queue).delete(record)
    for (const { id } of record.players) byPlayer.delete(id)
    ended.set(record, now)
  }

  const refuse = (field: string, message: string) => new InvalidTicket(`ticket: ${field}: ${message}`, { field })

  /** The ticket that was created by this id before, if it is the same one. */
  const created = ({ id, queue, players }: TicketInput): TicketRecord | undefined => {
    const before = id === undefined ? undefined : byId.get(id)
    if (before === undefined) return undefined
    const samePlayers =
      before.size === players.length && before.players.every((player, index) => player.id === players[index]?.id)
    if (before.queue !== queue || !samePlayers) throw refuse('id', `is that of a ticket with another queue or other players, got ${JSON.stringify(id)}`)
    return before
  }

  const tickets: Tickets = {
    create: (given) => {
      const input = readTicketInput(given)
      const before = created(input)
      if (before !== undefined) return before
      const queue = queues.get(input.queue)
      if (queue === undefined) throw new UnknownQueue(`there is no queue ${JSON.stringify(input.queue)}`)
      const { players } = input
      if (players.length > queue.matchSize) {
        throw refuse(
          'players',
          `a party of ${players.length} does not fit into a match of ${queue.matchSize} (queue ${queue.name})`,
        )
      }
      for (const { id } of players) {
        const other = byPlayer.get(id)
        if (other !== undefined) throw new PlayerBusy(id, other.id)
      }

      const place = locatePlayers(players)
      const record: TicketRecord = {
        id: input.id ?? newId(random),
        queue: queue.name,
        players,
        size: players.length,
        createdAt: clock.now(),
        place: place instanceof Promise ? undefined : place,
        network: networkOf(players),
        locating: place instanceof Promise,
        status: 'SEARCHING',
        waitingFor: place instanceof Promise ? 'location' : 'players',
        attempts: 0,
        restsUntil: 0,
        matchId: undefined,
        matchedAt: undefined,
        assignedAt: undefined,
        assignment: undefined,
        cancelledAt: undefined,
        cancelReason: undefined,
      }
      if (place instanceof Promise) {
        void place.then((found) => {
          record.place = found
          record.locating = false
        })
      }
      byId.set(record.id, record)
      for (const { id } of players) byPlayer.set(id, record)
      searchingIn(queue.name).add(record)
      events.emit('ticketCreated', { ticket: ticketOf(record) })
      return record
    },

    find: (id) => byId.get(id),

    admit: (queue, now) => {
      const pool: TicketRecord[] = []
      for (const record of searchingIn(queue.name)) {
        const waited = now - record.createdAt
        if (waited >= queue.expireAfterMs) {
          tickets.cancel(record, 'expired', now)
          continue
        }
        if (record.locating && waited < locateTimeoutMs) record.waitingFor = 'location'
        else if (now < record.restsUntil) record.waitingFor = 'retry'
        else {
          record.waitingFor = 'players'
          pool.push(record)
        }
      }
      return pool
    },

    match: (records, matchId, now) => {
      if (!records.every((record) => record.status === 'SEARCHING')) return false
      for (const record of records) {
        searchingIn(record.queue).delete(record)
        record.status = 'MATCH_FOUND'
        record.matchId = matchId
        record.matchedAt = now
      }
      return true
    },

    waitForServers: (records) => {
      for (const record of records) record.waitingFor = 'servers'
    },

    putBack: (record, reason, counts, now) => {
      if (record.status !== 'MATCH_FOUND') return
      const { matchId = '', queue } = record
      if (counts) record.attempts += 1
      if (record.attempts >= (queues.get(queue)?.maxAttempts ?? 0)) return tickets.cancel(record, 'attempts', now)
      record.status = 'SEARCHING'
      record.matchId = undefined
      record.matchedAt = undefined
      const atOnce = reason === 'dissolved' || reason === 'stopped'
      record.restsUntil = atOnce ? now : now + restAfter(record.attempts)
      record.waitingFor = atOnce ? 'players' : 'retry'
      searchingIn(queue).add(record)
      events.emit('returned', { matchId, queue, ticket: ticketOf(record), reason })
    },

    assign: (records, assignment, now) => {
      for (const record of records) {
        record.assignment = assignment
        record.assignedAt = now
        end(record, 'HOST_ASSIGNED', now)
      }
    },

    cancel: (record, reason, now) => {
      if (record.status === 'CANCELLED' || record.status === 'HOST_ASSIGNED') return
      record.cancelledAt = now
      record.cancelReason = reason
      end(record, 'CANCELLED', now)
      if (reason === 'expired') events.emit('expired', { ticket: ticketOf(record) })
      else events.emit('cancelled', { ticket: ticketOf(record), reason })
    },

    cancelSearching: (reason, now) => {
      for (const records of searching.values()) for (const record of records) tickets.cancel(record, reason, now)
    },

    removeEnded: (now) => {
      for (const [record, endedAt] of ended) {
        if (now - endedAt < keepEndedMs) return
        ended.delete(record)
        byId.delete(record.id)
      }
    },

    all: () => byId.values(),
  }
  return tickets
}
