import { operations, type OperationId } from '@muster/core/api'

const WINDOW_MS = 1000

/** How close the requests of each documented limit came to it. */
export interface LimitUse {
  readonly name: string
  /** Per second. */
  readonly limit: number
  /** Most requests that left in any one second. */
  readonly peak: number
}

export interface LimitMeter {
  /** A request of the operation left at this time. */
  left(operation: OperationId, now: number): void
  use(): readonly LimitUse[]
}

export function createLimitMeter(): LimitMeter {
  const limitOf = new Map(operations.map(([id, { limit }]) => [id, limit] as const))
  const meters = new Map<string, { limit: number; peak: number; readonly recent: number[] }>()
  return {
    left: (operation, now) => {
      const documented = limitOf.get(operation)
      if (documented === undefined) return
      const meter = meters.get(documented.name) ?? { limit: documented.limit, peak: 0, recent: [] }
      meters.set(documented.name, meter)
      meter.recent.push(now)
      while ((meter.recent[0] as number) <= now - WINDOW_MS) meter.recent.shift()
      meter.peak = Math.max(meter.peak, meter.recent.length)
    },
    use: () => [...meters].map(([name, { limit, peak }]) => ({ name, limit, peak })),
  }
}
