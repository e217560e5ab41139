// pure: a queue's promises, i.e. bounds of waits and of players who give up, and whether results keep them
/** The figures of one run of a queue over a crowd. */
export interface Measured {
  /** Cost of the matches: 0 at best, Infinity if nobody was matched. See `costOf`. */
  readonly cost: number
  /** 90th percentile of the matched players' wait in milliseconds. Infinity if nobody was matched. */
  readonly waitP90Ms: number
  /** Share of players who gave up or expired, among those who waited; from 0 to 1. */
  readonly gaveUp: number
}

export interface Promises {
  /** Maximum 90th percentile of the matched players' wait, in milliseconds. */
  readonly waitP90Ms?: number | undefined
  /** Maximum share of players who give up, from 0 to 1. */
  readonly gaveUp?: number | undefined
}

export type PromiseName = 'waitP90Ms' | 'gaveUp'

/** A promise that a run breaks, with the promised value. */
export interface Broken {
  readonly promise: PromiseName
  readonly promised: number
  readonly measured: number
}

/** Returns the promises that a run breaks. */
export const brokenBy = (measured: Measured, promises: Promises): Broken[] =>
  (['waitP90Ms', 'gaveUp'] as const).flatMap((promise) => {
    const promised = promises[promise]
    return promised === undefined || measured[promise] <= promised
      ? []
      : [{ promise, promised, measured: measured[promise] }]
  })

/** Returns true if every run keeps the promises. */
export const allKeep = (runs: readonly Measured[], promises: Promises): boolean =>
  runs.every((run) => brokenBy(run, promises).length === 0)

/**
 * Share by which promises are kept more strictly on the training seeds. Without this margin, a schedule that just keeps
 * a promise would often break it on other seeds.
 */
const MARGIN = 0.02

/** Returns the promises with a margin, as goals of the search, so that the promises are kept on other seeds too. */
export const aimedAt = ({ waitP90Ms, gaveUp }: Promises): Promises => ({
  waitP90Ms: waitP90Ms === undefined ? undefined : waitP90Ms * (1 - MARGIN),
  gaveUp: gaveUp === undefined ? undefined : gaveUp * (1 - MARGIN),
})

/** Minimum values in ratios, because differences below them are noise. */
const LEAST = { cost: 1e-3, waitP90Ms: 100, gaveUp: 1e-3 } as const
/**
 * Weight of a broken promise relative to the cost: exceeding a promise by 1 % weighs as much as a cost that is 4 %
 * higher.
 */
const WEIGHT = 4
/** Used in place of the logarithm of Infinity. */
const HOPELESS = 20

/** Returns the logarithms of a run's cost, of its wait, and of its share of players who gave up. */
export const logsOf = ({ cost, waitP90Ms, gaveUp }: Measured): readonly [number, number, number] => [
  logOf(cost, LEAST.cost),
  logOf(waitP90Ms, LEAST.waitP90Ms),
  logOf(gaveUp, LEAST.gaveUp),
]

/**
 * Returns the score of a candidate; lower is better. It is the logarithm of the runs' cost, plus how far the worst run
 * is from each promise. A slightly broken promise costs only slightly more, so that a search can follow the border.
 */
export function scoreOf(logs: readonly (readonly number[])[], promises: Promises): number {
  const cost = logs.reduce((sum, [one = HOPELESS]) => sum + one, 0) / logs.length
  return cost + WEIGHT * shortfallOf(logs, promises)
}

/** Returns how far the worst run is from the promises, as a sum of logarithms of ratios; 0 if all are kept. */
export function shortfallOf(logs: readonly (readonly number[])[], { waitP90Ms, gaveUp }: Promises): number {
  const over = (at: number, promised: number | undefined, least: number) =>
    promised === undefined ? 0 : Math.max(0, ...logs.map((run) => (run[at] ?? HOPELESS) - logOf(promised, least)))
  return over(1, waitP90Ms, LEAST.waitP90Ms) + over(2, gaveUp, LEAST.gaveUp)
}

export const meanOf = <Key extends string>(runs: readonly Readonly<Record<Key, number>>[], key: Key): number =>
  runs.reduce((sum, run) => sum + run[key], 0) / runs.length

const logOf = (value: number, least: number) => (value === Infinity ? HOPELESS : Math.log(Math.max(value, least)))

/** A schedule, with the means of its figures over the training seeds. */
export interface FrontPoint extends Measured {
  /** True if the promise about giving up is kept on every training seed. */
  readonly keepsGaveUp: boolean
  /** True if all promises are kept. */
  readonly keeps: boolean
  /** `own` for the file's own schedule, `best` for the chosen one; undefined for any other. */
  readonly is?: 'own' | 'best' | undefined
}

export const meansOf = (runs: readonly Measured[]): Measured => ({
  cost: meanOf(runs, 'cost'),
  waitP90Ms: meanOf(runs, 'waitP90Ms'),
  gaveUp: meanOf(runs, 'gaveUp'),
})

/** Returns the point of a schedule: the means over its runs, and whether they keep the promises. */
export const pointOf = (runs: readonly Measured[], promises: Promises, is?: FrontPoint['is']): FrontPoint => ({
  ...meansOf(runs),
  keepsGaveUp: allKeep(runs, { gaveUp: promises.gaveUp }),
  keeps: allKeep(runs, promises),
  ...(is !== undefined && { is }),
})

/**
 * Returns the Pareto front of cost and wait, the shortest wait first. It always contains the file's own schedule and
 * the chosen one.
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
