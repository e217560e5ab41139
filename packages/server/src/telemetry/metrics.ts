import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { instrument, type Observed, type ObservedClient } from '@muster/matchmaker'
import type { Attributes, Meter } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

/** Measurements of the program itself. Counts are totals since the start, unless marked as current. */
interface ObservedProgram {
  readonly clock: Pick<Clock, 'wallStepMs'>
  /** Returns the number of rejected tokens, by reason. */
  readonly refusals: () => Readonly<Record<string, number>>
  readonly connections: () => {
    /** Number of connections that are open now. */
    readonly open: number
    readonly idleEnded: number
    readonly busyEnded: number
    readonly pipelinedEnded: number
    readonly refused: number
  }
  readonly load: () => {
    /** Number of requests that were refused for overload, by urgency. */
    readonly refused: Readonly<Record<string, number>>
    /** Current delay of the process in milliseconds. */
    readonly lateMs: number
  }
  /** Returns the number of responses, by the class of the status, e.g. `2xx`. */
  readonly answers: () => Readonly<Record<string, number>>
  /** Returns the role of this process; undefined if the program is a single process. */
  readonly membership?:
    | (() => {
        readonly leads: boolean
        readonly takeovers: number
        readonly clockOffsetMs: number
        readonly timesVanished: number
      })
    | undefined
}

/** A measured value with the attributes that distinguish it. */
type Observation = readonly [value: number, attributes?: Attributes]

interface ProgramMetric {
  readonly kind: 'Counter' | 'UpDownCounter' | 'Gauge'
  readonly unit: string
  readonly description: string
  /** Returns the values; empty if the program has none. */
  readonly of: (program: ObservedProgram) => readonly Observation[]
}

/** Returns one observation for each member of a record. The attribute names the member. */
const each = (attribute: string, counts: Readonly<Record<string, number>>): readonly Observation[] =>
  Object.entries(counts).map(([name, count]) => [count, { [attribute]: name }])

type Membership = ReturnType<NonNullable<ObservedProgram['membership']>>

const ofMembership =
  (value: (membership: Membership) => number): ProgramMetric['of'] =>
  ({ membership }) =>
    membership === undefined ? [] : [[value(membership())]]

/** The metrics of the program itself, listed in docs/telemetry.md. */
const PROGRAM_METRICS: Readonly<Record<string, ProgramMetric>> = {
  'muster.http.answers': {
    kind: 'Counter',
    unit: '{request}',
    description: 'Requests that were answered, by the class of the status',
    of: ({ answers }) => each('muster.status', answers()),
  },
  'muster.connections.open': {
    kind: 'UpDownCounter',
    unit: '{connection}',
    description: 'Connections that are open',
    of: ({ connections }) => [[connections().open]],
  },
  'muster.connections.ended': {
    kind: 'Counter',
    unit: '{connection}',
    description: 'Connections ended or refused because there were too many, or too many requests on them, by kind',
    of: ({ connections }) => {
      const { idleEnded: idle, busyEnded: busy, pipelinedEnded: pipelined, refused } = connections()
      return each('muster.reason', { idle, busy, pipelined, refused })
    },
  },
  'muster.requests.refused': {
    kind: 'Counter',
    unit: '{request}',
    description: 'Requests that were refused because answers came late, by urgency',
    of: ({ load }) => each('muster.urgency', load().refused),
  },
  'muster.requests.delay': {
    kind: 'Gauge',
    unit: 's',
    description: 'Delay before requests are handled: delay of the event loop, or wait of new connections',
    of: ({ load }) => [[load().lateMs / 1000]],
  },
  'muster.partition.leading': {
    kind: 'UpDownCounter',
    unit: '{process}',
    description: 'Whether this process makes the matches, 1 or 0',
    of: ofMembership(({ leads }) => (leads ? 1 : 0)),
  },
  'muster.partition.takeovers': {
    kind: 'Counter',
    unit: '{takeover}',
    description: 'Number of times that this process became the leader',
    of: ofMembership(({ takeovers }) => takeovers),
  },
  'muster.partition.clock_offset': {
    kind: 'Gauge',
    unit: 's',
    description: 'By how much the clock of Redis is ahead of that of this process',
    of: ofMembership(({ clockOffsetMs }) => clockOffsetMs / 1000),
  },
  'muster.partition.records_vanished': {
    kind: 'Counter',
    unit: '{loss}',
    description: 'Number of times that this process saw the records vanish from Redis',
    of: ofMembership(({ timesVanished }) => timesVanished),
  },
  'muster.clock.step': {
    kind: 'Gauge',
    unit: 's',
    description: 'By how much the clock of the machine was set forward since the start of the process',
    of: ({ clock }) => [[(clock.wallStepMs?.() ?? 0) / 1000]],
  },
  'muster.auth.refused': {
    kind: 'Counter',
    unit: '{token}',
    description: 'Tokens that were refused, by reason',
    of: ({ refusals }) => each('muster.reason', refusals()),
  },
  'muster.process.cpu': {
    kind: 'Counter',
    unit: 's',
    description: 'CPU time that the process has used',
    of: () => {
      const { user, system } = process.cpuUsage()
      return [[(user + system) / 1e6]]
    },
  },
  'muster.process.memory': {
    kind: 'UpDownCounter',
    unit: 'By',
    description: 'Memory of the process, by kind',
    of: () => {
      const { rss: resident, heapUsed: heap } = process.memoryUsage()
      return each('muster.kind', { resident, heap })
    },
  },
}

function observeProgram(meter: Meter, program: ObservedProgram): void {
  for (const [name, { kind, of, ...options }] of Object.entries(PROGRAM_METRICS))
    meter[`createObservable${kind}`](name, options).addCallback((result) => {
      for (const [value, attributes] of of(program)) result.observe(value, attributes)
    })
}

export interface MetricsOptions {
  readonly matchmaker: Observed
  readonly client: ObservedClient | undefined
  readonly clock: Clock
  readonly program: ObservedProgram
}

/** The metrics of docs/telemetry.md for Prometheus. */
export type Metrics = ReturnType<typeof createMetrics>

/** Starts measuring. It opens no listener, because the program mounts `serve`. */
export function createMetrics({ matchmaker, client, clock, program }: MetricsOptions) {
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true, withoutTargetInfo: true })
  const provider = new MeterProvider({ readers: [exporter] })
  const meter = provider.getMeter('@muster/server')
  const end = instrument(matchmaker, { client, clock, meter })
  observeProgram(meter, program)
  return {
    /** Answers a scrape. */
    serve: (request: IncomingMessage, response: ServerResponse) => exporter.getMetricsRequestHandler(request, response),
    close: async () => {
      end()
      await provider.shutdown()
    },
  }
}
