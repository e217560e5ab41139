import type { ClientEvents } from '@muster/core'
import { type OperationId, operations } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { ACTIVITIES } from '@muster/servers/internal'
import type { Attributes, BatchObservableCallback, BatchObservableResult, Meter, Observable } from '@opentelemetry/api'
import type { Inspection } from '../matches/index.js'
import type { Ticket } from '../tickets/index.js'
import { type Instruments, type Observed, type ObservedClient, queueOf } from './instruments.js'

/** Counts and times the matchmaker's events. Returns a function that ends this. */
export function recordEvents(
  { on }: Observed,
  { counters, histograms }: Instruments,
  common: Attributes,
): (() => void)[] {
  const ofQueue = (queue: string): Attributes => ({ ...common, 'muster.queue': queue })

  const matched = (queue: string, tickets: readonly Ticket[]) => {
    for (const { createdAt, matchedAt = createdAt } of tickets) {
      histograms['muster.ticket.match_time'].record(seconds(matchedAt - createdAt), ofQueue(queue))
    }
  }
  const ended = (ticket: Ticket, outcome: string, endedAt: number | undefined) => {
    const attributes = { ...ofQueue(queueOf(ticket)), 'muster.outcome': outcome }
    counters['muster.tickets.ended'].add(1, attributes)
    if (endedAt !== undefined)
      histograms['muster.ticket.wait_time'].record(seconds(endedAt - ticket.createdAt), attributes)
  }

  // There from the start, so that the first problem is an increase.
  for (const during of ACTIVITIES) counters['muster.problems'].add(0, { ...common, 'muster.activity': during })
  return [
    on('ticketCreated', ({ ticket }) => counters['muster.tickets.created'].add(1, ofQueue(queueOf(ticket)))),
    on('matchFound', ({ queue, tickets, expansionMs }) => {
      const attributes = ofQueue(queue)
      const createdAt = tickets.map((ticket) => ticket.createdAt)
      const players = tickets.reduce((sum, ticket) => sum + ticket.players.length, 0)
      counters['muster.matches.found'].add(1, attributes)
      // A private match tells nothing about how long players wait for others.
      if (tickets.some(({ privateMatch }) => privateMatch !== undefined)) return
      histograms['muster.match.relaxation'].record(seconds(expansionMs), attributes)
      histograms['muster.match.players'].record(players, attributes)
      histograms['muster.match.wait_spread'].record(
        seconds(Math.max(...createdAt) - Math.min(...createdAt)),
        attributes,
      )
      matched(queue, tickets)
    }),
    on('backfillJoined', ({ queue, tickets }) => {
      counters['muster.tickets.joined'].add(tickets.length, ofQueue(queue))
      matched(queue, tickets)
    }),
    on('matchAccepted', ({ queue, playerIds }) =>
      counters['muster.players.accepted'].add(playerIds.length, ofQueue(queue)),
    ),
    on('playersLeft', ({ queue, playerIds }) => counters['muster.players.left'].add(playerIds.length, ofQueue(queue))),
    on('cooldownBegan', ({ queue, offence }) =>
      counters['muster.cooldowns.begun'].add(1, { ...ofQueue(queue), 'muster.reason': offence }),
    ),
    on('backfillCreated', ({ backfill }) => counters['muster.backfills.created'].add(1, ofQueue(backfill.queue))),
    on('backfillChanged', ({ backfill: { queue, status } }) => {
      if (status === 'OPEN') return
      counters['muster.backfills.ended'].add(1, { ...ofQueue(queue), 'muster.outcome': status.toLowerCase() })
    }),
    on('ticketRequeued', ({ queue, reason }) => {
      counters['muster.tickets.requeued'].add(1, { ...ofQueue(queue), 'muster.reason': reason })
    }),
    on('serverAssigned', ({ tickets }) => {
      for (const ticket of tickets) ended(ticket, 'assigned', ticket.assignedAt)
    }),
    on('cancelled', ({ ticket, reason }) => ended(ticket, reason, ticket.cancelledAt)),
    on('expired', ({ ticket }) => ended(ticket, 'expired', ticket.cancelledAt)),
    on('deploymentCreated', ({ queue }) => counters['muster.deployments.created'].add(1, ofQueue(queue))),
    on('deploymentReady', ({ queue, startMs, unseenMs, placed }) => {
      histograms['muster.deployment.start_time'].record(seconds(startMs), ofQueue(queue))
      histograms['muster.deployment.ready_detection_delay'].record(seconds(unseenMs), ofQueue(queue))
      if (placed === undefined) return
      histograms['muster.placement.latency'].record(seconds(placed.worstMs), ofQueue(queue))
      if (placed.offKm !== undefined) histograms['muster.placement.distance'].record(placed.offKm, ofQueue(queue))
    }),
    on('deploymentStopped', ({ queue, reason }) =>
      counters['muster.deployments.stopped'].add(1, { ...ofQueue(queue), 'muster.reason': reason }),
    ),
    on('deploymentFailed', ({ queue, reason }) =>
      counters['muster.deployments.failed'].add(1, { ...ofQueue(queue), 'muster.reason': reason }),
    ),
    on('serverLost', ({ pool }) => counters['muster.servers.lost'].add(1, { ...common, ...ofPool(pool) })),
    on('orphanStopped', () => counters['muster.deployments.reaped'].add(1, common)),
    on('tickCompleted', ({ durationMs }) => histograms['muster.tick.duration'].record(seconds(durationMs), common)),
    on('problem', ({ during }) => counters['muster.problems'].add(1, { ...common, 'muster.activity': during })),
  ]
}

const seconds = (ms: number) => ms / 1000

/** Servers of one match are in no pool. */
const ofPool = (pool: string | undefined): Attributes => (pool === undefined ? {} : { 'muster.pool': pool })

/** Counts and times the requests to the service. Returns a function that ends this. */
export function recordRequests(
  { events }: ObservedClient,
  { counters, histograms }: Instruments,
  limits: LimitMeter,
  clock: Clock,
  common: Attributes,
): (() => void)[] {
  const of = (operation: string): Attributes => ({ ...common, 'muster.operation': operation })
  const listen = <Name extends keyof ClientEvents>(name: Name, listener: ClientEvents[Name]) => {
    events.on(name, listener as never)
    return () => void events.off(name, listener as never)
  }
  return [
    listen('request', ({ operation, queuedMs }) => {
      limits.left(operation, clock.now())
      histograms['muster.api.queue_time'].record(queuedMs / 1000, of(operation))
    }),
    listen('response', ({ operation, status, error = 'unknown', durationMs }) => {
      const attributes = { ...of(operation), 'muster.outcome': status === undefined ? error : String(status) }
      counters['muster.api.requests'].add(1, attributes)
      histograms['muster.api.duration'].record(durationMs / 1000, attributes)
    }),
    listen('retry', ({ operation, error }) => {
      counters['muster.api.retries'].add(1, { ...of(operation), 'muster.outcome': error })
    }),
    listen('throttled', ({ limit }) => {
      counters['muster.api.throttled'].add(1, { ...common, 'muster.limit': limit })
    }),
  ]
}

/** How close the requests under one documented rate limit came to it. */
export interface LimitUse {
  /** E.g. `createDeployment`. */
  readonly name: string
  /** Requests per window of a second. */
  readonly limit: number
  /** Most requests that left in any such window. */
  readonly peak: number
}

export interface LimitMeter {
  /** Notes that a request of the operation was sent. @param now milliseconds, never less than in the last call. */
  left(operation: OperationId, now: number): void
  /** Returns the use since the last `take`, without limits that were never used. */
  take(): LimitUse[]
}

interface Gauge {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  peak: number
  /** Times of the requests in the last window. */
  readonly recent: number[]
}

/** Counts requests in a sliding window, the strictest way in which a service may count. */
export function createLimitMeter(): LimitMeter {
  const limitOf = new Map(operations.map(([id, { limit }]) => [id, limit]))
  const gauges = new Map<string, Gauge>()

  const forget = ({ recent, windowMs }: Gauge, now: number) => {
    let old = 0
    while (old < recent.length && (recent[old] as number) <= now - windowMs) old += 1
    if (old > 0) recent.splice(0, old)
  }

  return {
    left: (operation, now) => {
      const limit = limitOf.get(operation)
      if (limit === undefined) return
      const gauge = gauges.get(limit.name) ?? { ...limit, peak: 0, recent: [] }
      gauges.set(limit.name, gauge)
      forget(gauge, now)
      gauge.recent.push(now)
      gauge.peak = Math.max(gauge.peak, gauge.recent.length)
    },
    take: () =>
      Array.from(gauges.values(), (gauge) => {
        const { name, limit, peak } = gauge
        gauge.peak = 0
        return { name, limit, peak }
      }),
  }
}

/**
 * Series that were observed at one collection and not at the next. An SDK keeps reporting their last value, so a phase
 * that no server is in any more, and all that a process counted while it led, would be reported for ever.
 */
interface LastSeries {
  /** The result of a collection, whose series are remembered. */
  over(result: BatchObservableResult): BatchObservableResult
  /** Ends a collection: series of the previous one that were not observed become 0, except totals, which stay. */
  end(result: BatchObservableResult, isTotal: (instrument: Observable) => boolean): void
}

interface Series {
  readonly instrument: Observable
  readonly attributes: Attributes
}

function createLastSeries(): LastSeries {
  let before = new Map<Observable, Map<string, Series>>()
  let present = new Map<Observable, Map<string, Series>>()
  return {
    over: (result) => ({
      observe: (instrument, value, attributes = {}) => {
        const those = present.get(instrument) ?? new Map<string, Series>()
        present.set(instrument, those.set(JSON.stringify(attributes), { instrument, attributes }))
        result.observe(instrument, value, attributes)
      },
    }),
    end: (result, isTotal) => {
      for (const [instrument, those] of before) {
        if (isTotal(instrument)) continue
        for (const [key, { attributes }] of those)
          if (present.get(instrument)?.has(key) !== true) result.observe(instrument, 0, attributes)
      }
      before = present
      present = new Map()
    },
  }
}

const holds = [
  'maxServers',
  'maxStarting',
  'maxCreatesPerMinute',
  'budget',
  'paused',
  'store',
] as const satisfies readonly Inspection['held'][]

type ObservedInstruments = Instruments['observed']

function observeServers(
  result: BatchObservableResult,
  observed: ObservedInstruments,
  servers: Inspection['servers'],
  common: Attributes,
): void {
  const counts = new Map<string, { readonly metric: Observable; readonly attributes: Attributes; count: number }>()
  const add = (name: 'muster.servers' | 'muster.seats', pool: string | undefined, state: string, more: number) => {
    const key = `${name} ${state} ${pool ?? ''}`
    const attributes = { ...common, ...ofPool(pool), 'muster.state': state }
    const seen = counts.get(key) ?? { metric: observed[name], attributes, count: 0 }
    seen.count += more
    counts.set(key, seen)
  }
  for (const { state, pool, listing } of servers) {
    add('muster.servers', pool, state.toLowerCase(), 1)
    if (listing === undefined) continue
    const { total: _, ...seats } = listing.seats
    for (const [seat, count] of Object.entries(seats)) add('muster.seats', pool, seat, count)
  }
  for (const { metric, attributes, count } of counts.values()) result.observe(metric, count, attributes)
}

function observePool(
  result: BatchObservableResult,
  observed: ObservedInstruments,
  { pool, place, ...state }: Inspection['pools'][number],
  common: Attributes,
): void {
  const attributes = { ...common, 'muster.pool': pool, 'muster.place': place }
  for (const doing of ['starting', 'idle', 'playing', 'draining'] as const)
    result.observe(observed['muster.pool.servers'], state[doing], { ...attributes, 'muster.state': doing })
  result.observe(observed['muster.pool.servers_wanted'], state.wanted, attributes)
  result.observe(observed['muster.pool.matches'], state.asked, attributes)
  result.observe(observed['muster.pool.hits'], state.hits, attributes)
  result.observe(observed['muster.pool.idle_time'], state.idleHours * 3600, attributes)
}

/** Reads `inspect()` once for each collection of metrics. Returns a function that ends this. */
export function observeState(
  { inspect }: Observed,
  client: ObservedClient | undefined,
  meter: Meter,
  { observed, totals }: Instruments,
  limits: LimitMeter,
  common: Attributes,
): () => void {
  const last = createLastSeries()
  const callback: BatchObservableCallback = (collected) => {
    const result = last.over(collected)
    const { queues, matches, servers, pools, resultsPending, stopsPending, held } = inspect()
    for (const state of queues) {
      const { name, searching, players, longestWaitMs, matchesFound, backfills, backfillSlots } = state
      const queue = { ...common, 'muster.queue': name }
      for (const [lacks, tickets] of Object.entries(searching)) {
        result.observe(observed['muster.tickets.waiting'], tickets, { ...queue, 'muster.waiting_for': lacks })
      }
      result.observe(observed['muster.players.waiting'], players, queue)
      result.observe(observed['muster.tickets.longest_wait'], longestWaitMs / 1000, queue)
      result.observe(observed['muster.queue.paused'], state.paused ? 1 : 0, queue)
      const { headStartMs, recentP90Ms } = state.targetWait ?? {}
      if (headStartMs !== undefined) result.observe(observed['muster.queue.head_start'], headStartMs / 1000, queue)
      if (recentP90Ms !== undefined) result.observe(observed['muster.queue.recent_p90'], recentP90Ms / 1000, queue)
      result.observe(observed['muster.matches.forming'], matchesFound, queue)
      result.observe(observed['muster.searches.budget_exhausted'], state.searchesGivenUp, queue)
      result.observe(observed['muster.backfills.open'], backfills, queue)
      result.observe(observed['muster.backfills.slots'], backfillSlots, queue)
    }

    const byPhase = new Map<string, number>()
    for (const { queue, phase, hosted } of matches) {
      // It is served by the deployment of another match.
      if (hosted !== undefined) continue
      const key = JSON.stringify([queue, phase])
      byPhase.set(key, (byPhase.get(key) ?? 0) + 1)
    }
    for (const [key, count] of byPhase) {
      const [queue, phase] = JSON.parse(key) as [string, string]
      result.observe(observed['muster.deployments'], count, { ...common, 'muster.queue': queue, 'muster.phase': phase })
    }

    observeServers(result, observed, servers, common)
    for (const place of pools) observePool(result, observed, place, common)
    result.observe(observed['muster.results.pending'], resultsPending, common)
    result.observe(observed['muster.stops.pending'], stopsPending, common)
    for (const reason of holds) {
      result.observe(observed['muster.deployments.blocked'], reason === held ? 1 : 0, {
        ...common,
        'muster.reason': reason,
      })
    }
    for (const [name, { queued }] of Object.entries(client?.queues() ?? {})) {
      result.observe(observed['muster.api.queued'], queued, { ...common, 'muster.limit': name })
    }
    for (const { name, limit, peak } of limits.take()) {
      result.observe(observed['muster.api.limit_use'], peak / limit, { ...common, 'muster.limit': name })
    }
    last.end(collected, (instrument) => totals.includes(instrument))
  }

  const all = Object.values(observed)
  meter.addBatchObservableCallback(callback, all)
  return () => meter.removeBatchObservableCallback(callback, all)
}
