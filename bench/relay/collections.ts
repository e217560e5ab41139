import { PerformanceObserver } from 'node:perf_hooks'

/** The thread's pauses for collecting garbage. */
export interface Collections {
  reset(): void
  /** Those since the last reset. */
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
      // Entries are told a little later.
      await new Promise((resolve) => setImmediate(resolve))
      return {
        collections: pauses.length,
        collectionMs: Math.round(pauses.reduce((sum, pause) => sum + pause, 0)),
        longestCollectionMs: Number(Math.max(0, ...pauses).toFixed(1)),
      }
    },
  }
}
