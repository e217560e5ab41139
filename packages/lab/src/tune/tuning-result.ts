import type { Queue } from '@muster/matchmaker'
import { type Interval, pairedIntervals } from '../statistics/index.js'
import type { Change } from './limits.js'
import { type Broken, brokenBy, type FrontPoint, meanOf, meansOf, type Measured, type Promises } from './promises.js'
import type { LeftAlone, SearchOptions } from './limit-search.js'

/** A requested run. */
export interface WantedRun {
  readonly queue: Queue
  /** The seed of the crowd. */
  readonly seed: number
  /** Share of the crowd, above 0 and at most 1. */
  readonly share: number
}

export interface TuneOptions<M extends Measured> extends Pick<SearchOptions, 'also' | 'bounds'> {
  readonly queue: Queue
  /** At least one. Others default to the figures of the file's own schedule. */
  readonly promises: Promises
  /** Seeds of the crowd with which candidates are chosen. */
  readonly trainingSeeds: readonly number[]
  /** Other seeds, with which only the result is compared with the file's own schedule. */
  readonly unseenSeeds: readonly number[]
  /** Maximum number of full runs; a run over a quarter of the crowd counts as a quarter. */
  readonly budget: number
  /** Seed of the search itself. Default 1. */
  readonly seed?: number | undefined
  /** Makes runs, several at a time if possible; the results are in their order. */
  readonly measure: (runs: readonly WantedRun[]) => Promise<readonly M[]>
}

/** A schedule's runs, one for each seed. */
export interface Tested<M extends Measured> {
  readonly training: readonly M[]
  readonly unseen: readonly M[]
}

export interface Tuned<M extends Measured> {
  /** All promises that were searched for, including the default ones. */
  readonly promises: Required<Promises>
  readonly trainingSeeds: readonly number[]
  readonly unseenSeeds: readonly number[]
  /** What was searched: each limit in the file, and in the best schedule or the one nearest to the promises. */
  readonly changes: readonly Change[]
  readonly leftAlone: readonly LeftAlone[]
  /** The queue with these changes. */
  readonly queue: Queue
  /** True if the best schedule keeps the promises on every training seed. If not, no tried schedule does. */
  readonly possible: boolean
  /** True if no tried schedule is better than the file's own. */
  readonly ownIsBest: boolean
  readonly own: Tested<M>
  readonly best: Tested<M>
  /** The figures with all limits at their loosest from the start, on the training seeds. */
  readonly loosest: readonly M[]
  /** The best schedule found for each wait, by its means over the training seeds. */
  readonly front: readonly FrontPoint[]
  /** Number of schedules that ran with all training seeds. */
  readonly tried: number
  /** Number of full runs made. */
  readonly runs: number
}

/** The result compared with the file's own schedule, on the unseen seeds. */
export interface UnseenVerdict {
  /** Promises that the result breaks there, by its means. */
  readonly broken: readonly Broken[]
  /** Promises that the file's own schedule breaks. */
  readonly ownBroken: readonly Broken[]
  /** Number of unseen seeds that keep all promises. */
  readonly keeping: number
  /** Relative change of the cost, negative if the result is better: on the training seeds. */
  readonly trained: number
  /** The same on the unseen seeds. */
  readonly unseen: number
  /** The interval of the unseen change with 95 % confidence. Undefined for a single seed. */
  readonly interval?: Interval | undefined
  /** `unclear`: the interval contains 0. */
  readonly is: 'better' | 'worse' | 'unclear'
  /** True if more than half of the gain on the training seeds does not appear on the unseen ones. */
  readonly isOverfit: boolean
}

export function verdictOf<M extends Measured>({ own, best, promises }: Tuned<M>): UnseenVerdict {
  const [ofOwn, ofBest] = [meansOf(own.unseen), meansOf(best.unseen)]
  const trained = meanOf(best.training, 'cost') / meanOf(own.training, 'cost') - 1
  const unseen = ofBest.cost / ofOwn.cost - 1
  const changes = best.unseen.map(({ cost }, seed) => (cost - (own.unseen[seed]?.cost ?? cost)) / ofOwn.cost)
  const interval = changes.every(Number.isFinite) ? pairedIntervals(changes)?.(0.95) : undefined
  return {
    broken: brokenBy(ofBest, promises),
    ownBroken: brokenBy(ofOwn, promises),
    keeping: best.unseen.filter((run) => brokenBy(run, promises).length === 0).length,
    trained,
    unseen,
    interval,
    is:
      interval === undefined || (interval.low <= 0 && interval.high >= 0) ? 'unclear' : unseen < 0 ? 'better' : 'worse',
    isOverfit: trained < 0 && unseen > trained / 2,
  }
}
