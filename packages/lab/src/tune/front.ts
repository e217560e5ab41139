// pure: the candidates that no other betters in both quality and wait
import { allKeep, meanOf, type Measured, type Promises } from './promises.js'

/** One schedule, by its means over the training seeds. */
export interface FrontPoint extends Measured {
  /** Whether the promise about giving up is kept on every training seed. */
  readonly keepsGaveUp: boolean
  /** Whether all promises are. */
  readonly keeps: boolean
  /** Whether it is the file's own schedule, or the one that was chosen. */
  readonly is?: 'own' | 'best' | undefined
}

/** A schedule by its means. */
export const pointOf = (runs: readonly Measured[], promises: Promises, is?: FrontPoint['is']): FrontPoint => ({
  cost: meanOf(runs, 'cost'),
  waitP90Ms: meanOf(runs, 'waitP90Ms'),
  gaveUp: meanOf(runs, 'gaveUp'),
  keepsGaveUp: allKeep(runs, { gaveUp: promises.gaveUp }),
  keeps: allKeep(runs, promises),
  ...(is !== undefined && { is }),
})

/**
 * The Pareto front of cost and wait, the shortest wait first. Those that are the file's own or the chosen one are in it
 * in any case.
 */
export function frontOf(points: readonly FrontPoint[]): FrontPoint[] {
  const sorted = points
    .filter(({ cost, waitP90Ms }) => cost < Infinity && waitP90Ms < Infinity)
    .toSorted((one, other) => one.waitP90Ms - other.waitP90Ms || one.cost - other.cost)
  let least = Infinity
  return sorted.filter(({ cost, is }) => {
    const isBetter = cost < least
    least = Math.min(least, cost)
    return isBetter || is !== undefined
  })
}
