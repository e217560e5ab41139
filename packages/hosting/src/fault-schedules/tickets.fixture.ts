import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import type { RestoredMatches } from '../fleet/restore-servers.js'
import type { Allocator } from '../fleet/allocator.js'
import type { AllocatorListener } from '../fleet/fleet.js'
import type { Assignment, Deploy, Order, ReturnReason, StopReason } from '../records/index.js'
import type { MatchRecord } from '../store/index.js'
import type { OpenStorage, Ticket } from './storage.fixture.js'

/** A queue whose matches have two players. */
export interface TestQueue {
  readonly name: string
  readonly deploy: Deploy
  /** Name of the pool whose servers serve the matches. Undefined if each match gets its own server. */
  readonly pool?: string | undefined
}

/** Receives the events that concern players. */
export interface TicketsHeard {
  /** Called when the players of a ticket get their server's address, and again after a restart. */
  readonly told: (ticket: Ticket, matchId: string, handle: string, assignment: Assignment) => void
  readonly over: (matchId: string, reason: ReturnReason | StopReason) => void
}

interface TicketsOptions {
  readonly storage: () => OpenStorage
  readonly allocator: () => Allocator
  readonly queues: readonly TestQueue[]
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly heard: TicketsHeard
}

/** Number of failed attempts after which a ticket is cancelled. */
const MOST_TRIES = 5

/** A minimal matchmaker: the tickets of one process and their matches. */
export type Tickets = ReturnType<typeof createTickets>

export function createTickets({ storage, allocator, queues, clock, random, heard }: TicketsOptions) {
  const tickets = new Map<string, Ticket>()
  const queueOf = new Map(queues.map((queue) => [queue.name, queue]))
  let isClosing = false

  const put = (ticket: Ticket, changes: Partial<Ticket>) => {
    const changed = { ...ticket, ...changes, version: ticket.version + 1 }
    tickets.set(ticket.id, changed)
    storage().put(changed)
    return changed
  }
  const ofMatch = (matchId: string, ...states: readonly Ticket['state'][]) =>
    [...tickets.values()].filter(({ match, state }) => match === matchId && states.includes(state))
  const expected = (matchId: string) => ofMatch(matchId, 'matched').map(({ id }) => id)

  const requeue = (ticket: Ticket, counts: boolean) => {
    const tries = ticket.tries + (counts ? 1 : 0)
    const state = tries >= MOST_TRIES || isClosing ? 'cancelled' : 'searching'
    put(ticket, { state, match: undefined, tries })
  }
  /** Ends a match. Assigned tickets are over, other tickets search again. */
  const dissolve = (matchId: string, reason: ReturnReason | StopReason, counts: boolean) => {
    for (const ticket of ofMatch(matchId, 'assigned')) put(ticket, { state: 'over' })
    heard.over(matchId, reason)
    const match = allocator().find(matchId)
    if (match !== undefined) allocator().drop(match, reason)
    for (const ticket of ofMatch(matchId, 'matched')) requeue(ticket, counts)
  }

  const orderOf = (queue: TestQueue, those: readonly Ticket[]): Order => ({
    deploy: queue.deploy,
    tickets: those.map(({ id, player }) => ({
      id,
      createdAt: clock.now(),
      players: [{ id: player, ip: '192.0.2.7' }],
    })),
    teams: [{ name: '' }],
    teamOf: those.map(() => 0),
    inCommon: () => ({ equality: {}, intersection: {} }),
    expansionMs: 0,
    pool: queue.pool,
  })

  const on: Pick<AllocatorListener, 'ready' | 'failed' | 'over'> & { readonly games: AllocatorListener['games'] } = {
    ready: ({ id: matchId }, handle, assignment) => {
      for (const ticket of ofMatch(matchId, 'matched')) put(ticket, { state: 'assigned' })
      for (const ticket of ofMatch(matchId, 'assigned')) heard.told(ticket, matchId, handle, assignment)
    },
    failed: ({ id }, reason, counts) => dissolve(id, reason, counts !== false),
    over: ({ id }, reason) => dissolve(id, reason, false),
    games: {
      rosterOf: () => undefined,
      left: (match, playerIds) => {
        const there = match.playerIds.filter((id) => !playerIds.includes(id))
        if (there.length === 0) return dissolve(match.id, 'left', false)
        for (const ticket of ofMatch(match.id, 'assigned', 'matched'))
          if (playerIds.includes(ticket.player)) put(ticket, { state: 'over' })
        allocator().setPlayers(match, there, playerIds)
      },
      over: (match) => {
        storage().putResult(match.id)
        dissolve(match.id, 'over', false)
      },
      ended: ({ id }) => storage().putResult(id),
      seatsWanted: () => true,
    },
  }

  /** The id of the last stored match of each ticket. */
  const claims = new Map<string, string>()
  const adopted = new Set<string>()
  const resumed = (match: MatchRecord): Order | undefined => {
    const queue = queueOf.get(match.queue)
    const those = match.ticketIds.flatMap((id) => tickets.get(id) ?? [])
    const there = those.filter(({ id, state }) => claims.get(id) === match.matchId && state !== 'cancelled')
    const open = there.filter(({ state }) => state !== 'over')
    // The store has the match, so its tickets belong to it, even if their own state was lost.
    for (const ticket of open) if (ticket.state === 'searching') put(ticket, { state: 'matched', match: match.matchId })
    const isThere = match.playingSince !== undefined ? open.length > 0 : there.length === match.ticketIds.length
    adopted.add(match.matchId)
    if (queue === undefined || !isThere || open.length === 0) {
      for (const ticket of ofMatch(match.matchId, 'assigned')) put(ticket, { state: 'over' })
      for (const ticket of ofMatch(match.matchId, 'matched')) requeue(ticket, false)
      return undefined
    }
    return orderOf(queue, open)
  }
  const inherited: RestoredMatches = {
    expect: (all) => {
      for (const { matchId, ticketIds } of all) for (const id of ticketIds) claims.set(id, matchId)
    },
    assignmentOf: () => undefined,
    orderOf: resumed,
    done: () => {
      for (const ticket of tickets.values()) {
        if (ticket.match === undefined || adopted.has(ticket.match)) continue
        if (ticket.state === 'matched') requeue(ticket, false)
        else if (ticket.state === 'assigned') put(ticket, { state: 'over' })
      }
    },
  }

  return {
    on,
    inherited,
    expected,
    all: () => tickets.values(),
    find: (id: string) => tickets.get(id),
    load: (stored: readonly Ticket[]) => {
      for (const ticket of stored) tickets.set(ticket.id, ticket)
    },
    learn: (ticket: Ticket) => void (tickets.has(ticket.id) || tickets.set(ticket.id, ticket)),
    /** Cancels a ticket that is not assigned yet, and ends its match. Returns the id of that match. */
    cancel: (id: string): string | undefined => {
      const ticket = tickets.get(id)
      if (ticket?.state !== 'searching' && ticket?.state !== 'matched') return undefined
      const { match } = ticket
      put(ticket, { state: 'cancelled', match: undefined })
      if (match !== undefined) dissolve(match, 'dissolved', false)
      return match
    },
    dissolve,
    /** Cancels all searching tickets, and all that would search again later. */
    close: () => {
      isClosing = true
      for (const ticket of tickets.values()) if (ticket.state === 'searching') requeue(ticket, false)
    },
    /** Makes as many matches as servers may be created for. @param begun called when a match is stored */
    makeMatches: (begun: (matchId: string) => void) => {
      for (const queue of queues) {
        const open = [...tickets.values()].filter((one) => one.state === 'searching' && one.queue === queue.name)
        while (open.length >= 2 && allocator().room(clock.now(), queue.pool) > 0) {
          const matchId = newId(random)
          const two = open.splice(0, 2).map((ticket) => put(ticket, { state: 'matched', match: matchId }))
          const intent = { matchId, queue: queue.name, at: clock.now() }
          void allocator()
            .allocate(intent, orderOf(queue, two))
            .then(() => begun(matchId))
        }
      }
    },
  }
}
