import type { Queue } from '@muster/matchmaker'
import { type Interval, pairedIntervals } from '../statistics/index.js'
import type { Change } from './limits.js'
import { type Broken, brokenBy, type FrontPoint, meanOf, meansOf, type Measured, type Promises } from './promises.js'
import type { LeftAlone, SearchOptions } from './limit-search.js'

/** A run that the search requests. */
export interface WantedRun {
  readonly queue: Queue
  /** The seed of the crowd. */
  readonly seed: number
  /** Share of the crowd, above 0 and at most 1. */
  readonly share: number
}

export interface TuneOptions<M extends Measured> extends Pick<SearchOptions, 'also' | 'bounds'> {
  readonly queue: Queue
  /** The promises, at least one. A promise that is omitted defaults to the figure of the file's own schedule. */
  readonly promises: Promises
  /** Seeds of the crowd with which candidates are chosen. */
  readonly trainingSeeds: readonly number[]
  /** Other seeds. With these, only the result is compared with the file's own schedule. */
  readonly unseenSeeds: readonly number[]
  /** Maximum number of full runs. A run over a quarter of the crowd counts as a quarter. */
  readonly budget: number
  /** Seed of the search itself. Default 1. */
  readonly seed?: number | undefined
  /** Makes runs, several at a time if possible. The results are in the order of `runs`. */
  readonly measure: (runs: readonly WantedRun[]) => Promise<readonly M[]>
}

/** The runs of a schedule, one for each seed. */
export interface Tested<M extends Measured> {
  readonly training: readonly M[]
  readonly unseen: readonly M[]
}

export interface Tuned<M extends Measured> {
  /** All promises that were searched for, including the default ones. */
  readonly promises: Required<Promises>
  readonly trainingSeeds: readonly number[]
  readonly unseenSeeds: readonly number[]
  /**
   * The searched limits: each with its value in the file, and its value in the best schedule. If no schedule keeps the
   * promises, the best is the one that comes nearest.
   */
  readonly changes: readonly Change[]
  readonly leftAlone: readonly LeftAlone[]
  /** The queue with the changes applied. */
  readonly queue: Queue
  /** True if the best schedule keeps the promises on every training seed. If not, no tried schedule does. */
  readonly possible: boolean
  /** True if no tried schedule is better than the file's own. */
  readonly ownIsBest: boolean
  readonly own: Tested<M>
  readonly best: Tested<M>
  /** The figures with all limits at their loosest from the start, on the training seeds. */
  readonly loosest: readonly M[]
  /** The Pareto front: the best schedule found for each wait, by its means over the training seeds. */
  readonly front: readonly FrontPoint[]
  /** Number of schedules that ran with all training seeds. */
  readonly tried: number
  /** Number of full runs made. */
  readonly runs: number
}

/** How the result compares with the file's own schedule on the unseen seeds. */
export interface UnseenVerdict {
  /** Promises that the result breaks on the unseen seeds, by its means. */
  readonly broken: readonly Broken[]
  /** Promises that the file's own schedule breaks on the unseen seeds, by its means. */
  readonly ownBroken: readonly Broken[]
  /** Number of unseen seeds on which the result keeps all promises. */
  readonly keeping: number
  /** Relative change of the cost on the training seeds. Negative if the result is better. */
  readonly trained: number
  /** Relative change of the cost on the unseen seeds. Negative if the result is better. */
  readonly unseen: number
  /** The interval that contains the true change on unseen seeds with 95 % confidence. Undefined for a single seed. */
  readonly interval?: Interval | undefined
  /** The verdict. `unclear`: the interval contains 0. */
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
