// pure: what a search goes by, of the figures of a run
import type { Queue } from '@muster/matchmaker'
import type { End, Figures } from '../figures/figures.js'
import type { Measured } from './promises.js'
import type { Quality } from './quality.js'

/** What is told of a run, with all its figures. */
export interface MeasuredRun extends Measured {
  readonly figures: Figures
}

/** How a player ends who waited for nothing. */
const FOR_NOTHING: readonly End[] = ['gaveUp', 'expired', 'attempts', 'waiting']

/** @param queue of the run, whose players count. */
export function measuredRun(figures: Figures, queue: Queue, quality: Quality): MeasuredRun {
  const slice = figures.by.queue[queue.name]
  // Whom no queue takes does not wait.
  const waited = 1 - (slice?.ends.refused ?? 0)
  const gaveUp = FOR_NOTHING.reduce((sum, end) => sum + (slice?.ends[end] ?? 0), 0) / (waited || 1)
  const isMatched = slice !== undefined && slice.waitMs.count > 0
  return {
    cost: quality.costOf(figures, queue),
    waitP90Ms: isMatched ? slice.waitMs.p90 : Infinity,
    gaveUp: Math.min(1, gaveUp),
    figures,
  }
}
