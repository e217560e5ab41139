import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { instrument, type Observed, type ObservedClient } from '@muster/matchmaker'
import type { Meter } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

/** What is measured of the program itself. Counts are totals since the start, unless they are said to be of now. */
interface ObservedProgram {
  readonly connections: () => {
    /** Now. */
    readonly open: number
    readonly idleEnded: number
    readonly busyEnded: number
    readonly pipelinedEnded: number
    readonly refused: number
  }
  readonly load: () => {
    /** Requests by urgency. */
    readonly refused: Readonly<Record<string, number>>
    /** Milliseconds, now. */
    readonly lateMs: number
  }
  /** Requests that were answered, by the class of the status. */
  readonly answers: () => Readonly<Record<string, number>>
  /** Undefined where the program is one process. */
  readonly membership?:
    | (() => { readonly leads: boolean; readonly takeovers: number; readonly clockOffsetMs: number })
    | undefined
}

/** Measures the program itself, as docs/telemetry.md lists it. */
function observeProgram(meter: Meter, program: ObservedProgram): void {
  observeLoad(meter, program)
  if (program.membership !== undefined) observeMembership(meter, program.membership)
  observeProcess(meter)
}

function observeMembership(meter: Meter, membership: NonNullable<ObservedProgram['membership']>): void {
  const leading = meter.createObservableUpDownCounter('muster.partition.leading', {
    unit: '{process}',
    description: 'Whether this process is the one that matches, 1 or 0',
  })
  const takeovers = meter.createObservableCounter('muster.partition.takeovers', {
    unit: '{takeover}',
    description: 'How often this process came to lead',
  })
  const clockOffset = meter.createObservableGauge('muster.partition.clock_offset', {
    unit: 's',
    description: 'By how much the clock of Redis is ahead of that of this process',
  })
  meter.addBatchObservableCallback(
    (result) => {
      const present = membership()
      result.observe(leading, present.leads ? 1 : 0)
      result.observe(takeovers, present.takeovers)
      result.observe(clockOffset, present.clockOffsetMs / 1000)
    },
    [leading, takeovers, clockOffset],
  )
}

function observeProcess(meter: Meter): void {
  const cpu = meter.createObservableCounter('muster.process.cpu', {
    unit: 's',
    description: 'CPU time that the process has used',
  })
  const memory = meter.createObservableUpDownCounter('muster.process.memory', {
    unit: 'By',
    description: 'Memory of the process, by which',
  })
  meter.addBatchObservableCallback(
    (result) => {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed } = process.memoryUsage()
      result.observe(cpu, (user + system) / 1e6)
      result.observe(memory, rss, { 'muster.kind': 'resident' })
      result.observe(memory, heapUsed, { 'muster.kind': 'heap' })
    },
    [cpu, memory],
  )
}

function observeLoad(meter: Meter, { connections, load, answers }: ObservedProgram): void {
  const answered = meter.createObservableCounter('muster.http.answers', {
    unit: '{request}',
    description: 'Requests that were answered, by the class of the status',
  })
  const open = meter.createObservableUpDownCounter('muster.connections.open', {
    unit: '{connection}',
    description: 'Connections that are open',
  })
  const ended = meter.createObservableCounter('muster.connections.ended', {
    unit: '{connection}',
    description: 'Connections ended or refused as too many, or with too many requests waiting, by which',
  })
  const refused = meter.createObservableCounter('muster.requests.refused', {
    unit: '{request}',
    description: 'Requests that were refused because answers came late, by urgency',
  })
  const delay = meter.createObservableGauge('muster.requests.delay', {
    unit: 's',
    description: 'How late requests are taken up',
  })
  meter.addBatchObservableCallback(
    (result) => {
      const counts = connections()
      result.observe(open, counts.open)
      result.observe(ended, counts.idleEnded, { 'muster.reason': 'idle' })
      result.observe(ended, counts.busyEnded, { 'muster.reason': 'busy' })
      result.observe(ended, counts.pipelinedEnded, { 'muster.reason': 'pipelined' })
      result.observe(ended, counts.refused, { 'muster.reason': 'refused' })
      const { refused: shed, lateMs } = load()
      for (const [urgency, count] of Object.entries(shed)) result.observe(refused, count, { 'muster.urgency': urgency })
      result.observe(delay, lateMs / 1000)
      for (const [status, count] of Object.entries(answers()))
        result.observe(answered, count, { 'muster.status': status })
    },
    [open, ended, refused, delay, answered],
  )
}

export interface MetricsOptions {
  readonly matchmaker: Observed
  readonly client: ObservedClient
  readonly clock: Clock
  readonly program: ObservedProgram
}

/** The metrics of docs/telemetry.md for Prometheus. */
export interface Metrics {
  /** Answers a scrape. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void
  readonly close: () => Promise<void>
}

/** Begins to measure. Nothing listens by itself: `serve` is mounted by the program. */
export function createMetrics({ matchmaker, client, clock, program }: MetricsOptions): Metrics {
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true, withoutTargetInfo: true })
  const provider = new MeterProvider({ readers: [exporter] })
  const meter = provider.getMeter('@muster/server')
  const end = instrument(matchmaker, { client, clock, meter })
  observeProgram(meter, program)
  return {
    serve: (request, response) => exporter.getMetricsRequestHandler(request, response),
    close: async () => {
      end()
      await provider.shutdown()
    },
  }
}
