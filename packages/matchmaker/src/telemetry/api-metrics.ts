import type { ClientEvents } from '@muster/core'
import type { Attributes } from '@opentelemetry/api'
import type { Clock } from '@muster/core/clock'
import type { Instruments } from './instruments.js'
import type { LimitMeter } from './limit-meter.js'
import type { ObservedClient } from './observed.js'

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
