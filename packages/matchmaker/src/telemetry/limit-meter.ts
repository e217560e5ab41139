import { operations, type OperationId } from '@muster/core/api'

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
