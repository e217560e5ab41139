import type { Store } from '@muster/hosting'
import {
  type AllocationView,
  type Allocator,
  type EnrolmentView,
  type BlockedBy,
  type PoolPlaceView,
  type ResultOutbox,
  type ResultSetAside,
  type ServerView,
} from '@muster/hosting/internal'
import type { Match, QueueRuntime, TicketRecord, WaitingFor } from '../tickets/index.js'
import { largestMatch } from '../queues/index.js'
import type { TargetWaitState } from '../wait-times/index.js'

/** The operators' commands about results of matches that the backend keeps refusing: see the option `results`. */
export interface ResultCommands {
  /** Returns the results that were set aside, the oldest first, at most 1,000 and about 4 MiB. */
  resultsSetAside(): readonly ResultSetAside[]
  /** Sends a result again that was set aside, before later results of its players. @throws {NotFound} */
  repeatResult(matchId: string): void
  /** Deletes a result that was set aside: the backend never gets it. @throws {NotFound} */
  dropResult(matchId: string): void
}

/** The tickets and matches of a queue. A ticket that waits in several queues is counted in each. */
export interface QueueState {
  readonly name: string
  /** True if `pauseQueue` paused the queue. */
  readonly paused: boolean
  /** Number of searching tickets, by what they wait for. */
  readonly searching: Readonly<Record<WaitingFor, number>>
  /** Players in the searching tickets. */
  readonly players: number
  /** Players in the largest possible match. */
  readonly matchPlayers: number
  /** Milliseconds that the oldest searching ticket has waited; 0 if there is none. */
  readonly longestWaitMs: number
  /** Matches that await acceptance, or whose server is being deployed. */
  readonly matchesFound: number
  /**
   * Number of searches for a match that used up their budget since the queue was configured. Each is repeated later
   * from other candidates, so its match may come late.
   */
  readonly searchesGivenUp: number
  /** How limits follow the target wait of the queue, if it has one. Present from the queue's first ticket on. */
  readonly targetWait?: TargetWaitState | undefined
  /** Number of open backfills, and of their slots in total. */
  readonly backfills: number
  readonly backfillSlots: number
}

/** A match whose server exists or may exist, or a server of a pool. */
export interface InspectedMatch extends AllocationView {
  /** Id of the open backfill of the match; undefined if it has none. */
  readonly backfillId?: string | undefined
}

/** The state of a matchmaker at one moment. */
export interface Inspection {
  readonly queues: readonly QueueState[]
  /** Every match whose server exists or may exist, and every server of a pool (with `pool`). */
  readonly matches: readonly InspectedMatch[]
  /** The game servers that have registered. */
  readonly servers: readonly ServerView[]
  /** The pools of game servers, by place. */
  readonly pools: readonly PoolPlaceView[]
  /** The keys with which servers may add themselves to pools, by the current configuration. */
  readonly enrolments: readonly EnrolmentView[]
  /** Results of matches that the backend has not taken yet. */
  readonly resultsPending: number
  /** Milliseconds since the end of the oldest match whose result the backend has not taken; 0 if there is none. */
  readonly oldestResultMs: number
  /** Results that the backend keeps refusing: see `resultsSetAside`. */
  readonly resultsAside: number
  /** Stops that the service has not confirmed yet. */
  readonly stopsPending: number
  /** Milliseconds since the oldest unconfirmed stop was ordered; 0 if there is none. */
  readonly oldestStopMs: number
  /** Why no servers are deployed now; undefined if they are deployed. */
  readonly blockedBy: BlockedBy | undefined
  /** Whether the store can be written to. While it cannot, no ticket is accepted. Undefined without a store. */
  readonly store?: 'written' | 'failing' | undefined
  /**
   * Epoch milliseconds until which no server is created because the service refused one; undefined if it refused none.
   */
  readonly pausedUntil: number | undefined
}

/** The inspection of a matchmaker that has nothing, e.g. because another process leads. */
export const EMPTY_INSPECTION: Inspection = {
  queues: [],
  matches: [],
  servers: [],
  pools: [],
  enrolments: [],
  resultsPending: 0,
  oldestResultMs: 0,
  resultsAside: 0,
  stopsPending: 0,
  oldestStopMs: 0,
  blockedBy: undefined,
  pausedUntil: undefined,
}

export interface Inspected {
  readonly runtimes: Iterable<QueueRuntime>
  readonly tickets: Iterable<TicketRecord>
  readonly matches: Iterable<Match>
  readonly allocator: Pick<Allocator, 'sources' | 'blockedBy' | 'views' | 'gameServers' | 'pools'>
  readonly results: Pick<ResultOutbox, 'pending' | 'oldestMs' | 'asideCount'> | undefined
  readonly store: Pick<Store, 'isFailing'> | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

const newState = ({ queue, pool, waits, isPaused }: QueueRuntime) => ({
  name: queue.name,
  paused: isPaused,
  searching: { location: 0, players: 0, retry: 0, servers: 0, 'other-ticket': 0 },
  players: 0,
  matchPlayers: largestMatch(queue),
  longestWaitMs: 0,
  matchesFound: 0,
  searchesGivenUp: pool.givenUp,
  ...(queue.targetWaitMs !== undefined && { targetWait: waits.steering() }),
  backfills: 0,
  backfillSlots: 0,
})

const withBackfill = (view: AllocationView, backfillId: string | undefined): InspectedMatch =>
  backfillId === undefined ? view : { ...view, backfillId }

export function inspect({ runtimes, tickets, matches, allocator, results, store, now }: Inspected): Inspection {
  const states = new Map(Array.from(runtimes, (runtime) => [runtime.queue.name, newState(runtime)]))
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
  const backfillIds = new Map<string, string>()
  for (const { matchId, queue, phase, backfill } of matches) {
    if (backfill !== undefined) backfillIds.set(matchId, backfill.id)
    const state = states.get(queue.name)
    if (state === undefined) continue
    if (phase !== 'running') state.matchesFound += 1
    if (backfill === undefined) continue
    state.backfills += 1
    state.backfillSlots += backfill.rooms.reduce((sum, room) => sum + room, 0)
  }
  const pausedUntil = allocator.sources.pausedUntil()
  return {
    queues: [...states.values()],
    matches: allocator.views().map((view) => withBackfill(view, backfillIds.get(view.matchId))),
    servers: [...allocator.gameServers()],
    pools: allocator.pools.views(now),
    enrolments: allocator.pools.enrolments(),
    resultsPending: results?.pending() ?? 0,
    oldestResultMs: results?.oldestMs() ?? 0,
    resultsAside: results?.asideCount() ?? 0,
    stopsPending: allocator.sources.stopsPending(),
    oldestStopMs: allocator.sources.oldestStopMs(),
    blockedBy: allocator.blockedBy(),
    store: store && (store.isFailing() ? 'failing' : 'written'),
    pausedUntil: pausedUntil > now ? Math.floor(pausedUntil) : undefined,
  }
}
