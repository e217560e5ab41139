import type { Allocator } from './allocation/allocator.js'
import { viewOf, type Match, type MatchView } from './allocation/match.js'
import type { Queue } from './queue.js'
import type { TicketRecord } from './tickets/record.js'
import type { WaitingFor } from './tickets/ticket.js'

/** What waits in a queue. */
export interface QueueState {
  readonly name: string
  /** Tickets that search, by what they lack. */
  readonly searching: Readonly<Record<WaitingFor, number>>
  /** Players in these. */
  readonly players: number
  /** Milliseconds that the oldest of them has waited; 0 when there are none. */
  readonly longestWaitMs: number
}

/** How a matchmaker is at one moment. */
export interface Inspection {
  readonly queues: readonly QueueState[]
  /** Every match of which a server exists or may exist. */
  readonly matches: readonly MatchView[]
  /** Stops that the service has not confirmed yet. */
  readonly stopsPending: number
  /** Epoch milliseconds until which nothing is created because the service took none; undefined without such a pause. */
  readonly pausedUntil: number | undefined
}

export interface Inspected {
  readonly queues: Iterable<Queue>
  readonly tickets: Iterable<TicketRecord>
  readonly matches: Iterable<Match>
  readonly allocator: Pick<Allocator, 'stopsPending' | 'pausedUntil'>
  /** Epoch milliseconds. */
  readonly now: number
}

export function inspect({ queues, tickets, matches, allocator, now }: Inspected): Inspection {
  const states = new Map(
    Array.from(queues, ({ name }) => [
      name,
      { name, searching: { location: 0, players: 0, retry: 0, servers: 0 }, players: 0, longestWaitMs: 0 },
    ]),
  )
  for (const { queue, status, waitingFor, size, createdAt } of tickets) {
    const state = states.get(queue)
    if (state === undefined || status !== 'SEARCHING') continue
    state.searching[waitingFor] += 1
    state.players += size
    state.longestWaitMs = Math.max(state.longestWaitMs, now - createdAt)
  }
  const { stopsPending, pausedUntil } = allocator
  return {
    queues: [...states.values()],
    matches: Array.from(matches, viewOf),
    stopsPending,
    pausedUntil: pausedUntil > now ? pausedUntil : undefined,
  }
}
