import type { LimitNow } from '@muster/console/wire'
import type { Clock } from '@muster/core/clock'
import { createLimitMeter, type ObservedClient } from '@muster/matchmaker'

/** Creates a reading of the service's limits in use since the reading before, for the console. */
export function createLimitsNow(client: ObservedClient, clock: Clock): () => readonly LimitNow[] {
  const meter = createLimitMeter()
  client.events.on('request', ({ operation }) => meter.left(operation, clock.now()))
  return () => {
    const queues = client.queues()
    return meter
      .take()
      .map(({ name, limit, peak }) => ({
        operation: name,
        perSecond: limit,
        used: Math.min(1, peak / limit),
        waiting: queues[name]?.queued ?? 0,
      }))
      .toSorted((a, b) => b.used - a.used)
  }
}
