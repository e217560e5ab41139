import type { MetricsOptions, Metrics } from './metrics.js'

/** Metrics whose libraries are loaded once the program listens: they take longer to load than all the rest. */
export interface LazyMetrics {
  readonly start: () => void
  /** Resolves when something is measured; begins to, if that has not been said yet. */
  readonly metrics: () => Promise<Metrics>
  readonly close: () => Promise<void>
}

export function createLazyMetrics(options: MetricsOptions): LazyMetrics {
  let loading: Promise<Metrics> | undefined
  const metrics = () => (loading ??= import('./metrics.js').then(({ createMetrics }) => createMetrics(options)))
  return {
    // An error is told to whoever scrapes.
    start: () => void metrics().catch(() => {}),
    metrics,
    close: async () => {
      if (loading !== undefined) await (await loading).close()
    },
  }
}
