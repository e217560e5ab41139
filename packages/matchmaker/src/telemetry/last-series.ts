import type { Attributes, BatchObservableResult, Observable } from '@opentelemetry/api'

/**
 * Series that were told at one collection and not at the next: an SDK goes on telling their last value, so a phase that
 * no server is in any more, and all that a process counted while it led, would be told for ever.
 */
export interface LastSeries {
  /** The result of a collection, whose series are remembered. */
  over(result: BatchObservableResult): BatchObservableResult
  /** Ends a collection: series of the one before that were not told are 0, but those of totals, which stay. */
  end(result: BatchObservableResult, isTotal: (instrument: Observable) => boolean): void
}

interface Series {
  readonly instrument: Observable
  readonly attributes: Attributes
}

export function createLastSeries(): LastSeries {
  let before = new Map<Observable, Map<string, Series>>()
  let present = new Map<Observable, Map<string, Series>>()
  return {
    over: (result) => ({
      observe: (instrument, value, attributes = {}) => {
        const those = present.get(instrument) ?? new Map<string, Series>()
        present.set(instrument, those.set(JSON.stringify(attributes), { instrument, attributes }))
        result.observe(instrument, value, attributes)
      },
    }),
    end: (result, isTotal) => {
      for (const [instrument, those] of before) {
        if (isTotal(instrument)) continue
        for (const [key, { attributes }] of those)
          if (present.get(instrument)?.has(key) !== true) result.observe(instrument, 0, attributes)
      }
      before = present
      present = new Map()
    },
  }
}
