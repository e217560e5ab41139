// pure: what is asked of a search for better schedules, and what it answers
import type { Queue } from '@muster/matchmaker'
import type { Change } from './change.js'
import type { FrontPoint } from './front.js'
import type { Measured, Promises } from './promises.js'
import type { LeftAlone, SearchOptions } from './searched.js'

/** A run that is wanted. */
export interface WantedRun {
  readonly queue: Queue
  /** The seed of the crowd. */
  readonly seed: number
  /** Share of the crowd, above 0 and at most 1. */
  readonly share: number
}

export interface TuneOptions<M extends Measured> extends Pick<SearchOptions, 'also' | 'bounds'> {
  readonly queue: Queue
  /** At least one; another is what the file's own schedule keeps. */
  readonly promises: Promises
  /** Seeds of the crowd that candidates are chosen by. */
  readonly trainingSeeds: readonly number[]
  /** Other seeds, on which only the result is compared with the file's own schedule. */
  readonly unseenSeeds: readonly number[]
  /** Most whole runs; a run over a quarter of the crowd counts a quarter. */
  readonly budget: number
  /** Seed of the search itself. Default 1. */
  readonly seed?: number | undefined
  /** Carries out runs, several at once if it can; the results are in their order. */
  readonly measure: (runs: readonly WantedRun[]) => Promise<readonly M[]>
}

/** A schedule's runs, one for each seed. */
export interface Tested<M extends Measured> {
  readonly training: readonly M[]
  readonly unseen: readonly M[]
}

export interface Tuned<M extends Measured> {
  /** All that were searched for, also those that were not given. */
  readonly promises: Required<Promises>
  readonly trainingSeeds: readonly number[]
  readonly unseenSeeds: readonly number[]
  /** What was searched: what each limit is in the file, and in the best schedule or the one nearest to the promises. */
  readonly changes: readonly Change[]
  readonly leftAlone: readonly LeftAlone[]
  /** The queue with these changes. */
  readonly queue: Queue
  /** Whether the best schedule keeps the promises on every training seed. If not, none that was tried does. */
  readonly possible: boolean
  /** Whether no schedule that was tried betters the file's own. */
  readonly ownIsBest: boolean
  readonly own: Tested<M>
  readonly best: Tested<M>
  /** All limits as loose as they get from the start on, on the training seeds. */
  readonly loosest: readonly M[]
  /** The best that was found for each wait, by its means over the training seeds. */
  readonly front: readonly FrontPoint[]
  /** Schedules that met all training seeds. */
  readonly tried: number
  /** Whole runs that were made. */
  readonly runs: number
}
