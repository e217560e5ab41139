// pure: runs of candidates, each made at most once and counted against a budget
import type { Point } from './space.js'

/** One run: a candidate, one of the crowd's seeds, and how much of the crowd. */
export interface Trial {
  readonly point: Point
  /** Index of the seed. */
  readonly seed: number
  /** Share of the crowd, above 0 and at most 1. */
  readonly share: number
}

/** How much is spent on each candidate: the first so many seeds, and how much of the crowd. */
export interface Effort {
  readonly seeds: number
  readonly share: number
}

export interface TrialsOptions<Result> {
  /** Carries out runs; the results are in their order. */
  readonly evaluate: (trials: readonly Trial[]) => Promise<readonly Result[]>
  /** Candidates of the same key are the same once their numbers are rounded. */
  readonly keyOf: (point: Point) => string
  /** Whole runs that may be made; a run over a quarter of the crowd counts a quarter. */
  readonly budget: number
}

export interface Trials<Result> {
  /** What is left of the budget. */
  left(): number
  /** Whole runs that have been made. */
  spent(): number
  /** What the candidates would cost now. Runs that were made cost nothing. */
  costOf(points: readonly Point[], effort: Effort): number
  /** The results of each candidate, by seed. The caller looks after the budget. */
  run(points: readonly Point[], effort: Effort): Promise<(readonly Result[])[]>
}

export function createTrials<Result>({ evaluate, keyOf, budget }: TrialsOptions<Result>): Trials<Result> {
  const known = new Map<string, Result>()
  let spent = 0
  const keyed = (points: readonly Point[], { seeds, share }: Effort) =>
    points.map((point) => {
      const key = keyOf(point)
      return Array.from({ length: seeds }, (_, seed) => ({
        key: JSON.stringify([key, seed, share]),
        trial: { point, seed, share },
      }))
    })
  const missing = (points: readonly Point[], effort: Effort) => {
    const trials = keyed(points, effort).flat()
    return [...new Map(trials.filter(({ key }) => !known.has(key)).map((one) => [one.key, one.trial])).entries()]
  }
  return {
    left: () => budget - spent,
    spent: () => spent,
    costOf: (points, effort) => missing(points, effort).length * effort.share,
    async run(points, effort) {
      const wanted = missing(points, effort)
      const results = await evaluate(wanted.map(([, trial]) => trial))
      spent += wanted.length * effort.share
      for (const [index, [key]] of wanted.entries()) known.set(key, results[index] as Result)
      return keyed(points, effort).map((trials) => trials.map(({ key }) => known.get(key) as Result))
    },
  }
}
