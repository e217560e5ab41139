// pure: requests against the documented limits
import { limits } from '@muster/core/api'
import type { RequestUse } from './outcome.js'

/** The operations that follow from matches, and the documented limits of requests. */
const LIMITS = {
  create: limits.createDeployment,
  stop: undefined,
} as const

export type MeteredOperation = keyof typeof LIMITS

/** Counts requests by operation. */
export interface RequestMeter {
  /** @param now milliseconds, never less than in an earlier call. */
  sent(operation: MeteredOperation, now: number): void
  uses(): Record<string, RequestUse>
}

interface Gauge {
  total: number
  busiest: number
  /** Times of the requests within the last window, the oldest first; those before `oldest` are over. */
  readonly recent: number[]
  oldest: number
}

/** Counts in a sliding window, the strictest way in which a service may count. */
export function createRequestMeter(): RequestMeter {
  const gauges = new Map(
    (Object.keys(LIMITS) as MeteredOperation[]).map((operation) => [
      operation,
      { total: 0, busiest: 0, recent: [], oldest: 0 } as Gauge,
    ]),
  )
  return {
    sent: (operation, now) => {
      const gauge = gauges.get(operation) as Gauge
      gauge.total += 1
      const limit = LIMITS[operation]
      if (limit === undefined) return
      const { recent } = gauge
      recent.push(now)
      while ((recent[gauge.oldest] as number) <= now - limit.windowMs) gauge.oldest += 1
      gauge.busiest = Math.max(gauge.busiest, recent.length - gauge.oldest)
      if (gauge.oldest > 1000) recent.splice(0, gauge.oldest)
      if (gauge.oldest > 1000) gauge.oldest = 0
    },
    uses: () =>
      Object.fromEntries(
        Array.from(gauges, ([operation, { total, busiest }]) => {
          const limit = LIMITS[operation]
          const bound = limit === undefined ? {} : { limit: limit.limit, windowMs: limit.windowMs }
          return [operation, { total, busiest, ...bound }]
        }),
      ),
  }
}
