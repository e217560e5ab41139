import type { Allocator } from '../servers/allocator.js'
import { viewOf, type AllocationView } from '../servers/records/allocation.js'
import type { Match, QueueRuntime, TicketRecord } from '../tickets/records.js'
import type { WaitingFor } from '../tickets/ticket.js'

/** What waits in a queue. A ticket that waits in several is counted in each. */
export interface QueueState {
  readonly name: string
  /** Tickets that search, by what they lack. */
  readonly searching: Readonly<Record<WaitingFor, number>>
  /** Players in these. */
  readonly players: number
  /** Milliseconds that the oldest of them has waited; 0 when there are none. */
  readonly longestWaitMs: number
  /** Matches whose players are being asked whether they accept, or whose server is waited for. */
  readonly matchesFound: number
  /** Matches that ask for more players, and how many they take. */
  readonly backfills: number
  readonly backfillSlots: number
}

/** How a matchmaker is at one moment. */
export interface Inspection {
  readonly queues: readonly QueueState[]
  /** Every match of which a server exists or may exist. */
  readonly matches: readonly AllocationView[]
  /** Stops that the service has not confirmed yet. */
  readonly stopsPending: number
  /** Why no more servers are deployed now; undefined if they are. */
  readonly held: ReturnType<Allocator['held']>
  /** Epoch milliseconds until which nothing is created because the service took none; undefined without such a pause. */
  readonly pausedUntil: number | undefined
}

export interface Inspected {
  readonly runtimes: Iterable<QueueRuntime>
  readonly tickets: Iterable<TicketRecord>
  readonly matches: Iterable<Match>
  readonly allocator: Pick<Allocator, 'stopsPending' | 'pausedUntil' | 'held' | 'matches'>
  /** Epoch milliseconds. */
  readonly now: number
}

const newState = (name: string) => ({
  name,
  searching: { location: 0, players: 0, retry: 0, servers: 0, 'other-ticket': 0 },
  players: 0,
  longestWaitMs: 0,
  matchesFound: 0,
  backfills: 0,
  backfillSlots: 0,
})

export function inspect({ runtimes, tickets, matches, allocator, now }: Inspected): Inspection {
  const states = new Map(Array.from(runtimes, ({ queue }) => [queue.name, newState(queue.name)]))
  for (const { runtimes: waitsIn, status, waitingFor, players, createdAt } of tickets) {
    if (status !== 'SEARCHING') continue
    for (const { queue } of waitsIn) {
      const state = states.get(queue.name)
      if (state === undefined) continue
      state.searching[waitingFor] += 1
      state.players += players.length
      state.longestWaitMs = Math.max(state.longestWaitMs, Math.round(now - createdAt))
    }
  }
  for (const { queue, phase, backfill } of matches) {
    const state = states.get(queue.name)
    if (state === undefined) continue
    if (phase !== 'running') state.matchesFound += 1
    if (backfill === undefined) continue
    state.backfills += 1
    state.backfillSlots += backfill.rooms.reduce((sum, room) => sum + room, 0)
  }
  const pausedUntil = allocator.pausedUntil()
  return {
    queues: [...states.values()],
    matches: Array.from(allocator.matches(), viewOf),
    stopsPending: allocator.stopsPending(),
    held: allocator.held(),
    pausedUntil: pausedUntil > now ? Math.floor(pausedUntil) : undefined,
  }
}
