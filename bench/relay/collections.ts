import { PerformanceObserver } from 'node:perf_hooks'

/** Measures the pauses of the thread for garbage collection. */
export interface Collections {
  reset(): void
  /** Returns the pauses since the last reset. */
  found(): Promise<{
    readonly collections: number
    readonly collectionMs: number
    readonly longestCollectionMs: number
  }>
}

export function followCollections(): Collections {
  let pauses: number[] = []
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pauses.push(duration)
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    reset: () => {
      observer.takeRecords()
      pauses = []
    },
    found: async () => {
      // Entries are reported slightly later.
      await new Promise((resolve) => setImmediate(resolve))
      return {
        collections: pauses.length,
        collectionMs: Math.round(pauses.reduce((sum, pause) => sum + pause, 0)),
        longestCollectionMs: Number(Math.max(0, ...pauses).toFixed(1)),
      }
    },
  }
}
