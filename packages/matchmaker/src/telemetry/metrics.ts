import type { ClientEvents } from '@muster/core'
import { type OperationId, operations } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { ACTIVITIES, type ServerFailure } from '@muster/hosting/internal'
import type { Attributes, BatchObservableCallback, Meter } from '@opentelemetry/api'
import type { Inspection } from '../matches/index.js'
import type { Ticket } from '../tickets/index.js'
import { type Instruments, type Observed, type ObservedClient, queueOf } from './instruments.js'

/** Counts the matchmaker's events and measures durations. Returns a function that stops it. */
export function recordEvents(
  { on }: Observed,
  { counters, histograms }: Instruments,
  common: Attributes,
): (() => void)[] {
  const ofQueue = (queue: string): Attributes => ({ ...common, 'muster.queue': queue })
  const count = (name: keyof Instruments['counters'], queue: string, more: Attributes = {}, added = 1) =>
    counters[name].add(added, { ...ofQueue(queue), ...more })
  const record = (name: keyof Instruments['histograms'], queue: string, value: number, more: Attributes = {}) =>
    histograms[name].record(value, { ...ofQueue(queue), ...more })
  const matched = (queue: string, tickets: readonly Ticket[]) => {
    for (const { createdAt, matchedAt = createdAt } of tickets)
      record('muster.ticket.match_time', queue, seconds(matchedAt - createdAt))
  }
  const ended = (ticket: Ticket, outcome: string, endedAt: number | undefined) => {
    const how = { 'muster.outcome': outcome }
    count('muster.tickets.ended', queueOf(ticket), how)
    if (endedAt !== undefined)
      record('muster.ticket.wait_time', queueOf(ticket), seconds(endedAt - ticket.createdAt), how)
  }
  // Report these counters from the start with 0, so that the first count appears as an increase.
  for (const during of ACTIVITIES) counters['muster.problems'].add(0, { ...common, 'muster.activity': during })
  counters['muster.deployments.reaped'].add(0, common)
  counters['muster.servers.lost'].add(0, common)

  return [
    on('ticketCreated', ({ ticket }) => count('muster.tickets.created', queueOf(ticket))),
    on('matchFound', ({ queue, tickets, expansionMs }) => {
      const createdAt = tickets.map((ticket) => ticket.createdAt)
      const players = tickets.reduce((sum, ticket) => sum + ticket.players.length, 0)
      count('muster.matches.found', queue)
      // The wait of a private match is no wait for other players, so it is not recorded.
      if (tickets.some(({ privateMatch }) => privateMatch !== undefined)) return
      record('muster.match.relaxation', queue, seconds(expansionMs))
      record('muster.match.players', queue, players)
      record('muster.match.wait_spread', queue, seconds(Math.max(...createdAt) - Math.min(...createdAt)))
      matched(queue, tickets)
    }),
    on('backfillJoined', ({ queue, tickets }) => {
      count('muster.tickets.joined', queue, {}, tickets.length)
      matched(queue, tickets)
    }),
    on('matchAccepted', ({ queue, playerIds }) => count('muster.players.accepted', queue, {}, playerIds.length)),
    on('playersLeft', ({ queue, playerIds }) => count('muster.players.left', queue, {}, playerIds.length)),
    on('cooldownBegan', ({ queue, offence }) => count('muster.cooldowns.begun', queue, { 'muster.reason': offence })),
    on('backfillCreated', ({ backfill }) => count('muster.backfills.created', backfill.queue)),
    on('backfillChanged', ({ backfill: { queue, status } }) => {
      if (status !== 'OPEN') count('muster.backfills.ended', queue, { 'muster.outcome': status.toLowerCase() })
    }),
    on('ticketRequeued', ({ queue, reason }) => count('muster.tickets.requeued', queue, { 'muster.reason': reason })),
    on('serverAssigned', ({ tickets }) => {
      for (const ticket of tickets) ended(ticket, 'assigned', ticket.assignedAt)
    }),
    on('cancelled', ({ ticket, reason }) => ended(ticket, reason, ticket.cancelledAt)),
    on('expired', ({ ticket }) => ended(ticket, 'expired', ticket.cancelledAt)),
    on('deploymentCreated', ({ queue }) => count('muster.deployments.created', queue)),
    on('deploymentReady', ({ queue, startMs, unseenMs, placed }) => {
      record('muster.deployment.start_time', queue, seconds(startMs))
      record('muster.deployment.ready_detection_delay', queue, seconds(unseenMs))
      if (placed === undefined) return
      record('muster.placement.latency', queue, seconds(placed.worstMs))
      if (placed.offKm !== undefined) record('muster.placement.distance', queue, placed.offKm)
    }),
    on('deploymentStopped', ({ queue, reason }) =>
      count('muster.deployments.stopped', queue, { 'muster.reason': reason }),
    ),
    on('deploymentFailed', ({ queue, reason }) =>
      count('muster.deployments.failed', queue, { 'muster.reason': reason }),
    ),
    on('serverLost', ({ pool }) => counters['muster.servers.lost'].add(1, { ...common, ...ofPool(pool) })),
    on('orphanStopped', () => counters['muster.deployments.reaped'].add(1, common)),
    on('tickCompleted', ({ durationMs }) => histograms['muster.tick.duration'].record(seconds(durationMs), common)),
    on('problem', ({ during }) => counters['muster.problems'].add(1, { ...common, 'muster.activity': during })),
  ]
}

const seconds = (ms: number) => ms / 1000

/** Returns the pool's attribute. A server of one match is in no pool. */
const ofPool = (pool: string | undefined): Attributes => (pool === undefined ? {} : { 'muster.pool': pool })

/** Counts the requests to the service and measures their durations. Returns a function that stops it. */
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
  // Start each counter at 0, so that its first count appears as an increase.
  for (const name of new Set(operations.flatMap(([, { limit }]) => (limit === undefined ? [] : [limit.name]))))
    counters['muster.api.throttled'].add(0, { ...common, 'muster.limit': name })
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

/** The highest use of one documented rate limit. */
export interface LimitUse {
  /** Name of the limit, e.g. `createDeployment`. */
  readonly name: string
  /** The documented limit, in requests per second. */
  readonly limit: number
  /** Maximum number of requests in any window of a second. */
  readonly peak: number
}

export interface LimitMeter {
  /** Counts a request of the operation. @param now milliseconds, never less than in the last call. */
  left(operation: OperationId, now: number): void
  /** Returns the use since the last `take`, without limits that were never used. */
  take(): LimitUse[]
}

interface LimitGauge {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  peak: number
  /** Milliseconds at which the requests of the last window were sent. */
  readonly recent: number[]
}

/** Creates a meter that counts requests in a sliding window. This is the strictest way in which a service may count. */
export function createLimitMeter(): LimitMeter {
  const limitOf = new Map(operations.map(([id, { limit }]) => [id, limit]))
  const gauges = new Map<string, LimitGauge>()

  const forget = ({ recent, windowMs }: LimitGauge, now: number) => {
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

/** The reasons for which no servers are deployed. */
const BLOCKS: readonly Inspection['blockedBy'][] = [
  'maxServers',
  'maxStarting',
  'maxCreatesPerMinute',
  'budget',
  'paused',
  'unstoppable',
  'store',
]

/** The outcomes and failures about which there are alerts. */
const OUTCOMES = ['assigned', 'expired', 'cancelled', 'attempts', 'absent']
const FAILURES: readonly ServerFailure[] = ['failed', 'too-slow', 'not-listening', 'crashed']

/**
 * Creates a function that reports the counters of each queue and pool as 0 before the first event. A counter that
 * appears with a value above 0 shows no increase, so an alert on the rate would miss the first failures.
 */
function createZeros({ counters }: Pick<Instruments, 'counters'>, common: Attributes) {
  const begun = new Set<string>()
  const begin = (name: string, names: readonly string[], start: (name: string) => void) => {
    for (const one of names) {
      if (begun.has(`${name} ${one}`)) continue
      begun.add(`${name} ${one}`)
      start(one)
    }
  }
  return ({ queues, pools }: Pick<Inspection, 'queues' | 'pools'>) => {
    const queueNames = queues.map(({ name }) => name)
    begin('queue', queueNames, (queue) => {
      const ofQueue = { ...common, 'muster.queue': queue }
      for (const outcome of OUTCOMES) counters['muster.tickets.ended'].add(0, { ...ofQueue, 'muster.outcome': outcome })
      for (const reason of FAILURES)
        counters['muster.deployments.failed'].add(0, { ...ofQueue, 'muster.reason': reason })
      for (const name of ['muster.matches.found', 'muster.deployments.created'] as const) counters[name].add(0, ofQueue)
    })
    const poolNames = pools.map(({ pool }) => pool)
    begin('pool', poolNames, (pool) => counters['muster.servers.lost'].add(0, { ...common, ...ofPool(pool) }))
  }
}

interface ObservedSeries {
  readonly name: keyof Instruments['observed']
  readonly attributes: Attributes
  value: number
}

/** Reads `inspect()` once for each collection of metrics. Returns a function that stops it. */
export function observeState(
  { inspect }: Observed,
  client: ObservedClient | undefined,
  meter: Meter,
  instruments: Instruments,
  limits: LimitMeter,
  common: Attributes,
): () => void {
  const { observed, totals } = instruments
  const reportZeros = createZeros(instruments, common)
  /** The series of the last collection. */
  let before = new Map<string, ObservedSeries>()
  const callback: BatchObservableCallback = (result) => {
    const present = new Map<string, ObservedSeries>()
    /** Adds up values of the same attributes. */
    const add = (name: ObservedSeries['name'], value: number, own: Attributes = {}) => {
      const attributes = { ...common, ...own }
      const key = JSON.stringify([name, attributes])
      const series = present.get(key) ?? { name, attributes, value: 0 }
      series.value += value
      present.set(key, series)
    }
    const inspection = inspect()
    reportZeros(inspection)
    const { queues, matches, servers, pools, blockedBy, ...counted } = inspection
    const { resultsPending, oldestResultMs, resultsAside, stopsPending, oldestStopMs } = counted
    for (const state of queues) {
      const queue = { 'muster.queue': state.name }
      for (const [lacks, tickets] of Object.entries(state.searching))
        add('muster.tickets.waiting', tickets, { ...queue, 'muster.waiting_for': lacks })
      add('muster.players.waiting', state.players, queue)
      add('muster.tickets.longest_wait', state.longestWaitMs / 1000, queue)
      add('muster.queue.paused', state.paused ? 1 : 0, queue)
      add('muster.queue.match_players', state.matchPlayers, queue)
      const { targetWaitMs, headStartMs, recentP90Ms } = state.targetWait ?? {}
      if (targetWaitMs !== undefined) add('muster.queue.target_wait', targetWaitMs / 1000, queue)
      if (headStartMs !== undefined) add('muster.queue.head_start', headStartMs / 1000, queue)
      if (recentP90Ms !== undefined) add('muster.queue.recent_p90', recentP90Ms / 1000, queue)
      add('muster.matches.forming', state.matchesFound, queue)
      add('muster.searches.budget_exhausted', state.searchesGivenUp, queue)
      add('muster.backfills.open', state.backfills, queue)
      add('muster.backfills.slots', state.backfillSlots, queue)
    }
    for (const { queue, phase, hosted } of matches) {
      // A match on a server of a pool has no deployment of its own.
      if (hosted === undefined) add('muster.deployments', 1, { 'muster.queue': queue, 'muster.phase': phase })
    }
    for (const { state, pool, listing } of servers) {
      add('muster.servers', 1, { ...ofPool(pool), 'muster.state': state.toLowerCase() })
      if (listing === undefined) continue
      const { total: _, ...seats } = listing.seats
      for (const [seat, count] of Object.entries(seats))
        add('muster.seats', count, { ...ofPool(pool), 'muster.state': seat })
    }
    for (const { pool, place, ...state } of pools) {
      const at = { 'muster.pool': pool, 'muster.place': place }
      for (const doing of ['starting', 'idle', 'playing', 'draining'] as const)
        add('muster.pool.servers', state[doing], { ...at, 'muster.state': doing })
      add('muster.pool.servers_wanted', state.wanted, at)
      add('muster.pool.matches', state.asked, at)
      add('muster.pool.hits', state.hits, at)
      add('muster.pool.idle_time', state.idleHours * 3600, at)
    }
    add('muster.results.pending', resultsPending)
    add('muster.results.oldest', oldestResultMs / 1000)
    add('muster.results.aside', resultsAside)
    add('muster.stops.pending', stopsPending)
    add('muster.stops.oldest', oldestStopMs / 1000)
    for (const reason of BLOCKS)
      add('muster.deployments.blocked', reason === blockedBy ? 1 : 0, { 'muster.reason': reason })
    for (const [name, { queued }] of Object.entries(client?.queues() ?? {}))
      add('muster.api.queued', queued, { 'muster.limit': name })
    for (const { name, limit, peak } of limits.take())
      add('muster.api.limit_use', peak / limit, { 'muster.limit': name })

    for (const { name, attributes, value } of present.values()) result.observe(observed[name], value, attributes)
    // An SDK repeats the last value of a series that is no longer observed. A phase without servers, or the counts of a
    // former leader, would be reported forever. So report 0 once for each such series. Totals keep their value.
    for (const [key, { name, attributes }] of before)
      if (!present.has(key) && !totals.includes(observed[name])) result.observe(observed[name], 0, attributes)
    before = present
  }

  const all = Object.values(observed)
  meter.addBatchObservableCallback(callback, all)
  return () => meter.removeBatchObservableCallback(callback, all)
}
