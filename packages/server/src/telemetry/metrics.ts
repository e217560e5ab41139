import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { instrument, type Observed, type ObservedClient } from '@muster/matchmaker'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { observeProgram, type ObservedProgram } from './program-metrics.js'

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
