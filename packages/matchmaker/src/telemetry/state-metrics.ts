import type { Attributes, BatchObservableCallback, BatchObservableResult, Meter, Observable } from '@opentelemetry/api'
import type { Inspection } from '../matches/index.js'
import type { LimitMeter } from './event-metrics.js'
import type { Instruments, Observed, ObservedClient } from './instruments.js'

/**
 * Series that were observed at one collection and not at the next. An SDK keeps reporting their last value, so a phase
 * that no server is in any more, and all that a process counted while it led, would be reported for ever.
 */
interface LastSeries {
  /** The result of a collection, whose series are remembered. */
  over(result: BatchObservableResult): BatchObservableResult
  /** Ends a collection: series of the previous one that were not observed become 0, except totals, which stay. */
  end(result: BatchObservableResult, isTotal: (instrument: Observable) => boolean): void
}

interface Series {
  readonly instrument: Observable
  readonly attributes: Attributes
}

function createLastSeries(): LastSeries {
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

const holds = [
  'maxServers',
  'maxStarting',
  'maxCreatesPerMinute',
  'budget',
  'paused',
  'store',
] as const satisfies readonly Inspection['held'][]

/** Reads `inspect()` once for each collection of metrics. Returns a function that ends this. */
export function observeState(
  { inspect }: Observed,
  client: ObservedClient | undefined,
  meter: Meter,
  { observed }: Instruments,
  limits: LimitMeter,
  common: Attributes,
): () => void {
  const last = createLastSeries()
  const callback: BatchObservableCallback = (collected) => {
    const result = last.over(collected)
    const { queues, matches, stopsPending, held } = inspect()
    for (const state of queues) {
      const { name, searching, players, longestWaitMs, matchesFound, backfills, backfillSlots } = state
      const queue = { ...common, 'muster.queue': name }
      for (const [lacks, tickets] of Object.entries(searching)) {
        result.observe(observed['muster.tickets.waiting'], tickets, { ...queue, 'muster.waiting_for': lacks })
      }
      result.observe(observed['muster.players.waiting'], players, queue)
      result.observe(observed['muster.tickets.longest_wait'], longestWaitMs / 1000, queue)
      result.observe(observed['muster.queue.paused'], state.paused ? 1 : 0, queue)
      const { headStartMs, recentP90Ms } = state.targetWait ?? {}
      if (headStartMs !== undefined) result.observe(observed['muster.queue.head_start'], headStartMs / 1000, queue)
      if (recentP90Ms !== undefined) result.observe(observed['muster.queue.recent_p90'], recentP90Ms / 1000, queue)
      result.observe(observed['muster.matches.forming'], matchesFound, queue)
      result.observe(observed['muster.searches.budget_exhausted'], state.searchesGivenUp, queue)
      result.observe(observed['muster.backfills.open'], backfills, queue)
      result.observe(observed['muster.backfills.slots'], backfillSlots, queue)
    }

    const byPhase = new Map<string, number>()
    for (const { queue, phase } of matches) {
      const key = JSON.stringify([queue, phase])
      byPhase.set(key, (byPhase.get(key) ?? 0) + 1)
    }
    for (const [key, count] of byPhase) {
      const [queue, phase] = JSON.parse(key) as [string, string]
      result.observe(observed['muster.deployments'], count, { ...common, 'muster.queue': queue, 'muster.phase': phase })
    }

    result.observe(observed['muster.stops.pending'], stopsPending, common)
    for (const reason of holds) {
      result.observe(observed['muster.deployments.blocked'], reason === held ? 1 : 0, {
        ...common,
        'muster.reason': reason,
      })
    }
    for (const [name, { queued }] of Object.entries(client?.queues() ?? {})) {
      result.observe(observed['muster.api.queued'], queued, { ...common, 'muster.limit': name })
    }
    for (const { name, limit, peak } of limits.take()) {
      result.observe(observed['muster.api.limit_use'], peak / limit, { ...common, 'muster.limit': name })
    }
    last.end(collected, (instrument) => totals.includes(instrument))
  }

  const totals: readonly Observable[] = [observed['muster.searches.budget_exhausted']]
  const all = Object.values(observed)
  meter.addBatchObservableCallback(callback, all)
  return () => meter.removeBatchObservableCallback(callback, all)
}
