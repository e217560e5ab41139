import { pairedIntervals, type Interval } from '../statistics/paired.js'
import { brokenBy, meanOf, type Broken, type Measured } from './promises.js'
import type { Tuned } from './tuned.js'

/** The result beside the file's own schedule, on the unseen seeds. */
export interface Verdict {
  /** Promises that the result breaks there, by its means. */
  readonly broken: readonly Broken[]
  /** Those that the file's own schedule breaks. */
  readonly ownBroken: readonly Broken[]
  /** Number of unseen seeds that keep all promises. */
  readonly keeping: number
  /** Change of the cost as a share of the own, negative where the result is better: on the training seeds. */
  readonly trained: number
  /** The same on the unseen seeds. */
  readonly unseen: number
  /** What holds the unseen change with 95 % confidence. None for a single seed. */
  readonly interval?: Interval | undefined
  /** `unclear`: the interval holds 0. */
  readonly is: 'better' | 'worse' | 'unclear'
  /** Whether more than half of the gain on the training seeds was theirs alone. */
  readonly isOverfit: boolean
}

export function verdictOf<M extends Measured>({ own, best, promises }: Tuned<M>): Verdict {
  const means = (runs: readonly M[]): Measured => ({
    cost: meanOf(runs, 'cost'),
    waitP90Ms: meanOf(runs, 'waitP90Ms'),
    gaveUp: meanOf(runs, 'gaveUp'),
  })
  const [ofOwn, ofBest] = [means(own.unseen), means(best.unseen)]
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
