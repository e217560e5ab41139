// pure: which of the schedules that were tried is taken
import { aimedAt, allKeep, logsOf, meanOf, shortfallOf, type Measured, type Promises } from './promises.js'
import type { Tried } from './problem.js'

/** A schedule that betters the file's own by less is not worth a change. */
const WORTH_IT = 0.01

/**
 * The schedule of the least cost that keeps the promises with a margin; if none does, without it; if none does that
 * either, the one nearest to them.
 */
export function chosenOf<M extends Measured>(tried: readonly Tried<M>[], promises: Promises): Tried<M> {
  const keeping = (wanted: Promises) => tried.filter(({ results }) => allKeep(results, wanted))
  const withMargin = keeping(aimedAt(promises))
  const kept = withMargin.length > 0 ? withMargin : keeping(promises)
  const all = kept.length > 0 ? kept : tried
  const costOf = ({ results }: Tried<M>) =>
    kept.length > 0 ? meanOf(results, 'cost') : shortfallOf(results.map(logsOf), promises)
  return all.reduce((best, one) => (costOf(one) < costOf(best) ? one : best))
}

/** Whether the file's own schedule is as good as the chosen one, or so nearly that nothing should change. */
export function isOwnBest(own: readonly Measured[], chosen: readonly Measured[], promises: Promises): boolean {
  const [ownKeeps, chosenKeeps] = [allKeep(own, promises), allKeep(chosen, promises)]
  if (ownKeeps !== chosenKeeps) return ownKeeps
  return ownKeeps
    ? meanOf(chosen, 'cost') > meanOf(own, 'cost') * (1 - WORTH_IT)
    : shortfallOf(own.map(logsOf), promises) <= shortfallOf(chosen.map(logsOf), promises)
}
