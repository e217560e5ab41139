import { metrics, trace, type Attributes, type Meter, type Tracer } from '@opentelemetry/api'
import { systemClock, type Clock } from '@muster/core/clock'
import { createLimitMeter, observeState, recordEvents, recordRequests } from './metrics.js'
import { createInstruments, type Observed, type ObservedClient } from './instruments.js'
import { traceEvents } from './traces.js'

export interface InstrumentOptions {
  /** The client of the service. If given, its rate limits and requests are measured too. */
  readonly client?: ObservedClient | undefined
  /** Meter that makes the instruments. Default: the meter `@muster/matchmaker` of the global provider. */
  readonly meter?: Meter | undefined
  readonly tracer?: Tracer | undefined
  /** Attributes of every measurement and span, e.g. the region. */
  readonly attributes?: Attributes | undefined
  /** The matchmaker's clock. Default: the system's. */
  readonly clock?: Clock | undefined
}

const NAME = '@muster/matchmaker'

/**
 * Reports metrics and traces of a matchmaker to OpenTelemetry; docs/telemetry.md lists them. It only listens to events.
 * No measurement or span holds an address or a player's id. Returns a function that stops the reporting. Without a
 * registered SDK, or a given meter and tracer, nothing is reported.
 */
export function instrument(matchmaker: Observed, options: InstrumentOptions = {}): () => void {
  const { client, attributes = {}, clock = systemClock } = options
  const meter = options.meter ?? metrics.getMeter(NAME)
  const tracer = options.tracer ?? trace.getTracer(NAME)
  const instruments = createInstruments(meter)
  const limits = createLimitMeter()

  const endings = [
    ...recordEvents(matchmaker, instruments, attributes),
    observeState(matchmaker, client, meter, instruments, limits, attributes),
    traceEvents(matchmaker, tracer, clock, attributes),
    ...(client === undefined ? [] : recordRequests(client, instruments, limits, clock, attributes)),
  ]
  return () => {
    for (const end of endings) end()
  }
}
