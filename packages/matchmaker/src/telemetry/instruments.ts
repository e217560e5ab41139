import type { Client } from '@muster/core'
import type { Counter, Histogram, Meter, Observable } from '@opentelemetry/api'
import type { Matchmaker } from '../matches/index.js'
import type { Ticket } from '../tickets/index.js'

/** Bucket boundaries in seconds, for short durations and for durations of minutes. */
const MOMENTS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const MINUTES = [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600]

const LATENCIES = [0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5]
const KILOMETRES = [1, 10, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]
const PLAYERS = [1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 50, 100, 200, 500]

const of = (unit: string, description: string) => ({ unit, description })

const histogram = (unit: string, buckets: readonly number[], description: string) => ({ unit, description, buckets })

/** Counters of events. */
const counters = {
  'muster.tickets.created': of('{ticket}', 'Tickets that were created'),
  'muster.tickets.ended': of('{ticket}', 'Tickets that ended, by outcome'),
  'muster.tickets.requeued': of('{ticket}', 'Tickets that lost their match and search again, by reason'),
  'muster.matches.found': of('{match}', 'Matches that were found'),
  'muster.tickets.joined': of('{ticket}', 'Tickets that joined an existing match'),
  'muster.players.accepted': of('{player}', 'Players who accepted their match'),
  'muster.players.left': of('{player}', 'Players who were reported to have left their match'),
  'muster.cooldowns.begun': of('{cooldown}', 'Cooldowns that began or became longer, by reason'),
  'muster.backfills.created': of('{backfill}', 'Backfills that were created'),
  'muster.backfills.ended': of('{backfill}', 'Backfills that ended, by outcome'),
  'muster.deployments.created': of('{deployment}', 'Deployments that the service accepted'),
  'muster.deployments.failed': of('{deployment}', 'Game servers that failed, by reason'),
  'muster.deployments.stopped': of('{deployment}', 'Deployments whose stop was confirmed, by reason'),
  'muster.deployments.reaped': of(
    '{deployment}',
    'Deployments of this matchmaker that belonged to no match, and were stopped',
  ),
  'muster.servers.lost': of('{server}', 'Game servers that were silent for too long'),
  'muster.problems': of('{problem}', 'Handled problems, by the work in which they occurred'),
  'muster.api.requests': of('{request}', 'Requests to the service, by operation and outcome'),
  'muster.api.retries': of('{request}', 'Requests that failed and are repeated, by operation and error'),
  'muster.api.throttled': of('{request}', 'Requests that the service rejected with 429, by rate limit'),
} as const

/** Histograms. Most of them are of durations in seconds. */
const histograms = {
  'muster.ticket.match_time': histogram('s', MINUTES, 'Time from the creation of a ticket to its match'),
  'muster.ticket.wait_time': histogram('s', MINUTES, 'Time from the creation of a ticket to its end'),
  'muster.match.relaxation': histogram(
    's',
    MINUTES,
    'How far the rules of a match had relaxed: the wait after which its limits apply',
  ),
  'muster.match.players': histogram('{player}', PLAYERS, 'Players of a match when it was found'),
  'muster.match.wait_spread': histogram(
    's',
    MINUTES,
    'Wait of the oldest ticket of a match minus that of its youngest',
  ),
  'muster.deployment.start_time': histogram(
    's',
    MINUTES,
    'Time from the answer to a create until the deployment is known to be READY',
  ),
  'muster.deployment.ready_detection_delay': histogram(
    's',
    MOMENTS,
    'Time from the last status read that was not READY to the first that was',
  ),
  'muster.placement.latency': histogram(
    's',
    LATENCIES,
    'Longest round trip of a match to the beacon for which its server was requested',
  ),
  'muster.placement.distance': histogram(
    'km',
    KILOMETRES,
    'Distance from the beacon for which a server was requested to the server',
  ),
  'muster.tick.duration': histogram('s', MOMENTS, 'Duration of a round of grouping'),
  'muster.api.queue_time': histogram('s', MOMENTS, 'Time that a request waited for its rate limit'),
  'muster.api.duration': histogram('s', MOMENTS, 'Time from sending a request to its answer'),
} as const

/** States read at each collection. Their sum over several processes is meaningful. */
const sums = {
  'muster.tickets.waiting': of('{ticket}', 'Tickets that search, by what they wait for'),
  'muster.players.waiting': of('{player}', 'Players in tickets that search'),
  'muster.matches.forming': of('{match}', 'Matches that await acceptance or their server'),
  'muster.backfills.open': of('{backfill}', 'Matches that ask for more players'),
  'muster.backfills.slots': of('{player}', 'Players for whom matches that ask for more have room'),
  'muster.api.queued': of('{request}', 'Requests that wait for their rate limit'),
  'muster.deployments': of('{deployment}', 'Deployments that exist or may exist, by state'),
  'muster.servers': of('{server}', 'Game servers that have registered, by state'),
  'muster.seats': of('{seat}', 'Seats of listed game servers, by state'),
  'muster.pool.servers': of('{server}', 'Game servers of pools, by place and state'),
  'muster.pool.servers_wanted': of('{server}', 'Wanted number of warm game servers, by place'),
  'muster.results.pending': of('{result}', 'Results of matches that the backend has not accepted yet'),
  'muster.results.aside': of('{result}', 'Results that the backend keeps refusing, until an operator decides'),
  'muster.stops.pending': of('{deployment}', 'Stops that the service has not confirmed'),
} as const

/** Totals that are read at each collection. */
const totals = {
  'muster.searches.budget_exhausted': of('{search}', 'Searches for a match that used up their search budget'),
  'muster.pool.matches': of('{match}', 'Matches that needed a server of a pool, by place'),
  'muster.pool.hits': of('{match}', 'Matches that found a warm server, by place'),
  'muster.pool.idle_time': of('s', 'Time for which servers of pools were idle, by place'),
} as const

/** States read at each collection that must not be summed. */
const gauges = {
  'muster.tickets.longest_wait': of('s', 'Wait of the oldest searching ticket'),
  'muster.queue.match_players': of('{player}', 'Players of the largest match of the queue'),
  'muster.queue.target_wait': of('s', 'Target wait of the queue: nine of ten tickets are to wait no longer'),
  'muster.results.oldest': of('s', 'Age of the oldest result that the backend has not accepted'),
  'muster.stops.oldest': of('s', 'Age of the oldest stop that the service has not confirmed'),
  'muster.queue.head_start': of(
    's',
    'Extra waiting time by which limits are relaxed in advance, to meet the target wait',
  ),
  'muster.queue.recent_p90': of('s', 'Recent wait of nine of ten tickets at most, in queues with a target wait'),
  'muster.queue.paused': of('1', 'Whether the queue is paused, 1 or 0'),
  'muster.deployments.blocked': of('1', '1 while no more servers can be deployed, by reason'),
  'muster.api.limit_use': of('1', 'Most requests in any second since the last reading, as a share of the rate limit'),
} as const

/** Every metric. Names, units and attributes are public, because dashboards depend on them: see docs/telemetry.md. */
export const catalogue = { ...counters, ...histograms, ...sums, ...totals, ...gauges }

export interface Instruments {
  readonly counters: Readonly<Record<keyof typeof counters, Counter>>
  readonly histograms: Readonly<Record<keyof typeof histograms, Histogram>>
  /** The instruments in `observed` of `totals`. Their series are not reset to 0, because a total must not fall. */
  readonly totals: readonly Observable[]
  readonly observed: Readonly<Record<keyof typeof sums | keyof typeof totals | keyof typeof gauges, Observable>>
}

export function createInstruments(meter: Meter): Instruments {
  const make = <Key extends string, Description extends object, Made>(
    described: Readonly<Record<Key, Description>>,
    one: (name: Key, description: Description) => Made,
  ) => {
    const names = Object.keys(described) as Key[]
    return Object.fromEntries(names.map((name) => [name, one(name, described[name])])) as Record<Key, Made>
  }
  const read = make(totals, (name, options) => meter.createObservableCounter(name, options))
  return {
    totals: Object.values(read),
    counters: make(counters, (name, options) => meter.createCounter(name, options)),
    histograms: make(histograms, (name, { buckets, ...options }) =>
      meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: [...buckets] } }),
    ),
    observed: {
      ...make(sums, (name, options) => meter.createObservableUpDownCounter(name, options)),
      ...read,
      ...make(gauges, (name, options) => meter.createObservableGauge(name, options)),
    },
  }
}

/** The parts of a matchmaker that telemetry uses. */
export type Observed = Pick<Matchmaker, 'on' | 'inspect'>

/** The parts of a client of the service that telemetry uses. */
export type ObservedClient = Pick<Client, 'events' | 'queues'>

/**
 * Returns the attribute value for a ticket's queue: the queue of its match, or its only queue; `several` while it waits
 * in several queues.
 */
export const queueOf = ({ queue, queues }: Ticket): string =>
  queue ?? (queues.length === 1 ? (queues[0] as string) : 'several')
