import type { Attributes, HrTime } from '@opentelemetry/api'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type Sampler,
} from '@opentelemetry/sdk-trace-base'
import { createManualClock, type ManualClock } from '@muster/core/clock'
import { createEvents } from '../events.js'
import { EMPTY_INSPECTION } from '../matches/inspection.js'
import type { Ticket } from '../tickets/ticket.js'
import { instrument } from './instrument.js'
import type { Observed, ObservedClient } from './instruments.js'

export const START = Date.UTC(2026, 0, 1)

class Reader extends MetricReader {
  protected override async onShutdown() {}
  protected override async onForceFlush() {}
}

interface SetUpOptions {
  /** Default: a matchmaker that emits only the events of the test. */
  readonly matchmaker?: Observed
  readonly clock?: ManualClock
  readonly client?: ObservedClient
  readonly attributes?: Attributes
  readonly sampler?: Sampler
}

/** Creates an instrumented matchmaker, with an SDK that keeps all metrics and spans. */
export function setUp(options: SetUpOptions = {}) {
  const { sampler, matchmaker, clock = createManualClock({ start: START }), ...given } = options
  const events = createEvents()
  const state = { inspection: EMPTY_INSPECTION }
  const reader = new Reader()
  const meter = new MeterProvider({ readers: [reader] }).getMeter('test')
  const exporter = new InMemorySpanExporter()
  const tracer = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  }).getTracer('test')
  const observed = matchmaker ?? { on: events.on, inspect: () => state.inspection }
  const end = instrument(observed, { meter, tracer, clock, ...given })

  /** Returns all metrics as `name{attributes}`: a sum, a last value, or the count and sum of a histogram. */
  const measured = async (): Promise<Record<string, unknown>> => {
    const { resourceMetrics } = await reader.collect()
    const points = resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => [
          `${descriptor.name}${JSON.stringify(attributes)}`,
          typeof value === 'number' ? value : 'count' in value ? { count: value.count, sum: value.sum } : value,
        ]),
      ),
    )
    return Object.fromEntries(points) as Record<string, unknown>
  }
  const spans = () => exporter.getFinishedSpans()
  return { clock, emit: events.emit, state, end, measured, spans }
}

/** Returns milliseconds since the start of the test. */
export const millisecondsOf = ([seconds, nanoseconds]: HrTime) => Math.round(seconds * 1000 + nanoseconds / 1e6) - START

export const ticket = (id: string, more: Partial<Ticket> = {}): Ticket => ({
  id,
  version: 1,
  queues: ['duel'],
  players: [{ id: `${id}-player` }],
  priority: 0,
  status: 'SEARCHING',
  createdAt: START,
  attempts: 0,
  ...more,
})

export const assignment = { fqdn: 'server.example.com', publicIp: '203.0.113.9', ports: {}, location: undefined }
