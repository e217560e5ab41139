// pure: what a queue promises its players, and whether results keep it
/** The figures of one run of a queue over a crowd. */
export interface Measured {
  /** How badly players are matched, 0 at best: see `costOf`. Infinity if nobody was matched. */
  readonly cost: number
  /** Milliseconds within which nine of ten matched players found their match. Infinity if nobody was matched. */
  readonly waitP90Ms: number
  /** Share of the players who waited in vain, i.e. gave up or expired, of those who waited; from 0 to 1. */
  readonly gaveUp: number
}

export interface Promises {
  /** Milliseconds within which nine of ten matched players find their match. */
  readonly waitP90Ms?: number | undefined
  /** Share of players from 0 to 1. */
  readonly gaveUp?: number | undefined
}

export type PromiseName = 'waitP90Ms' | 'gaveUp'

/** A promise that is not kept. */
export interface Broken {
  readonly promise: PromiseName
  readonly promised: number
  readonly measured: number
}

/** The promises that a run does not keep. */
export const brokenBy = (measured: Measured, promises: Promises): Broken[] =>
  (['waitP90Ms', 'gaveUp'] as const).flatMap((promise) => {
    const promised = promises[promise]
    return promised === undefined || measured[promise] <= promised
      ? []
      : [{ promise, promised, measured: measured[promise] }]
  })

/** Whether every run keeps the promises. */
export const allKeep = (runs: readonly Measured[], promises: Promises): boolean =>
  runs.every((run) => brokenBy(run, promises).length === 0)

/** Other days are not like the training seeds: a schedule on the border of a promise there would often break it. */
const MARGIN = 0.02

/** What a search aims at, so that the promises are kept on other seeds too. */
export const aimedAt = ({ waitP90Ms, gaveUp }: Promises): Promises => ({
  waitP90Ms: waitP90Ms === undefined ? undefined : waitP90Ms * (1 - MARGIN),
  gaveUp: gaveUp === undefined ? undefined : gaveUp * (1 - MARGIN),
})

/** Smallest numbers that count in ratios: ratios of less are chance. */
const LEAST = { cost: 1e-3, waitP90Ms: 100, gaveUp: 1e-3 } as const
/** How much worse a broken promise is than a bad match: 1 % too much weighs as much as a cost 4 % higher. */
const WEIGHT = 4
/** In place of the logarithm of Infinity. */
const HOPELESS = 20

/** The figures of a run, as logarithms: cost, wait and share who gave up. */
export const logsOf = ({ cost, waitP90Ms, gaveUp }: Measured): readonly [number, number, number] => [
  logOf(cost, LEAST.cost),
  logOf(waitP90Ms, LEAST.waitP90Ms),
  logOf(gaveUp, LEAST.gaveUp),
]

/**
 * How bad runs of one candidate are: the logarithm of their cost, and on top how far the worst of the runs is from each
 * promise. Slightly broken promises cost slightly more, so that a search finds its way along the border.
 */
export function scoreOf(logs: readonly (readonly number[])[], promises: Promises): number {
  const cost = logs.reduce((sum, [one = HOPELESS]) => sum + one, 0) / logs.length
  return cost + WEIGHT * shortfallOf(logs, promises)
}

/** How far the worst of the runs is from the promises, as a sum of logarithms of ratios; 0 if all are kept. */
export function shortfallOf(logs: readonly (readonly number[])[], { waitP90Ms, gaveUp }: Promises): number {
  const over = (at: number, promised: number | undefined, least: number) =>
    promised === undefined ? 0 : Math.max(0, ...logs.map((run) => (run[at] ?? HOPELESS) - logOf(promised, least)))
  return over(1, waitP90Ms, LEAST.waitP90Ms) + over(2, gaveUp, LEAST.gaveUp)
}

export const meanOf = <Key extends string>(runs: readonly Readonly<Record<Key, number>>[], key: Key): number =>
  runs.reduce((sum, run) => sum + run[key], 0) / runs.length

const logOf = (value: number, least: number) => (value === Infinity ? HOPELESS : Math.log(Math.max(value, least)))

/** One schedule, by its means over the training seeds. */
export interface FrontPoint extends Measured {
  /** Whether the promise about giving up is kept on every training seed. */
  readonly keepsGaveUp: boolean
  /** Whether all promises are. */
  readonly keeps: boolean
  /** Whether it is the file's own schedule, or the one that was chosen. */
  readonly is?: 'own' | 'best' | undefined
}

export const meansOf = (runs: readonly Measured[]): Measured => ({
  cost: meanOf(runs, 'cost'),
  waitP90Ms: meanOf(runs, 'waitP90Ms'),
  gaveUp: meanOf(runs, 'gaveUp'),
})

/** A schedule by its means. */
export const pointOf = (runs: readonly Measured[], promises: Promises, is?: FrontPoint['is']): FrontPoint => ({
  ...meansOf(runs),
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
