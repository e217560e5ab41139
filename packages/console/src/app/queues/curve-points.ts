// pure: a rule's limit over waiting time, as the points of a line
import type { Curve } from '../../wire/index.js'

export interface CurveLine {
  /** Seconds of waiting. */
  readonly xs: readonly number[]
  readonly ys: readonly (number | null)[]
}

const SHORTEST_S = 10

/** Where plots of a queue's curves end: somewhat after the last change of any of them, in seconds. */
export function endOfCurves(curves: readonly Curve[]): number {
  const last = Math.max(0, ...curves.flatMap(({ points }) => points.map(({ after }) => after / 1000)))
  return Math.max(SHORTEST_S, Math.ceil((last * 1.25) / 5) * 5)
}

/** Steps are drawn as steps, and what no longer counts as a gap. */
export function curveLine({ shape, points }: Curve, end: number): CurveLine {
  const xs: number[] = []
  const ys: (number | null)[] = []
  const add = (x: number, y: number | null) => {
    xs.push(x)
    ys.push(y)
  }
  for (const [at, { after, limit }] of points.entries()) {
    const next = points[at + 1]
    add(after / 1000, limit)
    const holds = shape === 'steps' || next === undefined || next.limit === null
    if (limit !== null && holds) add(next === undefined ? end : next.after / 1000, limit)
  }
  return { xs, ys }
}

/** When the rule stops to count, in milliseconds; undefined if it always counts. */
export const endOfRule = ({ points }: Curve): number | undefined =>
  points.at(-1)?.limit === null ? points.at(-1)?.after : undefined
