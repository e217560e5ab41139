// pure: the searched schedules, as points whose coordinates are from 0 to 1
import type { Random } from '@muster/core/clock'
import type { Change } from './limits.js'
import { inside, roundedValue, roundedWait, scheduleOf, type ScheduleShape, shapeOf, SOONEST_MS } from './schedule.js'
import type { Searched, SearchedLimit, SearchedNumber } from './limit-search.js'

/** A candidate: one coordinate from 0 to 1 for each axis. */
export type Point = readonly number[]

export type Space = ReturnType<typeof createSpace>

type SchedulePart = keyof ScheduleShape

/** An axis of the search: one parameter of one limit, or a single number. */
type Axis =
  | { readonly limit: SearchedLimit; readonly part: SchedulePart }
  | { readonly number: SearchedNumber; readonly part: 'number' }

export function createSpace({ limits, numbers }: Searched) {
  const axes: Axis[] = [
    ...limits.flatMap((limit) => partsOf(limit).map((part) => ({ limit, part }))),
    ...numbers.map((number) => ({ number, part: 'number' as const })),
  ]
  const coordinate = (point: Point, of: SearchedLimit | SearchedNumber, part: SchedulePart | 'number') => {
    const at = axes.findIndex((axis) => axis.part === part && ('limit' in axis ? axis.limit : axis.number) === of)
    return at === -1 ? undefined : point[at]
  }
  const scheduleAt = (point: Point, limit: SearchedLimit) => {
    const at = (part: SchedulePart, fixed: number) => coordinate(point, limit, part) ?? fixed
    const shape = { start: at('start', 0), end: at('end', 1), time: at('time', 0), delay: at('delay', 0.5) }
    return scheduleOf(limit.space, shape)
  }
  /** Returns the candidate with its times multiplied by `factor`. */
  const retimed = (point: Point, factor: number) =>
    point.map((value, at) => {
      const axis = axes[at] as Axis
      if (axis.part !== 'time') return value
      return inside(value + Math.log(factor) / Math.log(axis.limit.space.latestMs / SOONEST_MS))
    })
  return {
    axes: axes.length,
    /** The point whose schedules are nearest to the file's own. */
    own: axes.map((axis) =>
      axis.part === 'number' ? partOfNumber(axis.number) : shapeOf(axis.limit.space, axis.limit.relaxing)[axis.part],
    ),
    /** Returns the changes of a candidate to the queue, rounded to what a designer would write. */
    changesAt: (point: Point) => [
      ...limits.map((limit): Change => {
        return { path: limit.path, name: limit.name, isWait: false, was: limit.relaxing, is: scheduleAt(point, limit) }
      }),
      ...numbers.map((number): Change => {
        const { path, name, isWait, now } = number
        return { path, name, isWait, was: now, is: numberAt(number, coordinate(point, number, 'number') ?? 0) }
      }),
    ],
    retimed,
    /**
     * Returns a stricter candidate (`factor` above 1) or a looser one (below 1). Its times and the first values of its
     * limits are changed.
     */
    stricter: (point: Point, factor: number) =>
      retimed(point, factor).map((value, at) => {
        if (axes[at]?.part !== 'start') return value
        return factor > 1 ? value / factor : 1 - (1 - value) * factor
      }),
    /**
     * Returns the candidate with `start` as the first value of all its limits: 0 for the strictest value, 1 for the
     * loosest.
     */
    withStart: (point: Point, start: number) => point.map((value, at) => (axes[at]?.part === 'start' ? start : value)),
  }
}

/** Returns the parameters in which the schedules of a limit can differ. */
function partsOf({ space }: SearchedLimit): SchedulePart[] {
  const finite = space.endsFree ? space.steps - 1 : space.steps
  const values: SchedulePart[] = space.strictest === space.loosest ? [] : finite === 1 ? ['start'] : ['start', 'end']
  return [...values, 'time', ...(space.form === 'steps' && space.steps === 2 ? [] : (['delay'] as const))]
}

const partOfNumber = ({ now, least, most }: SearchedNumber) =>
  most === least ? 0 : inside((now - least) / (most - least))

function numberAt({ isWait, now, least, most }: SearchedNumber, part: number): number {
  const value = least + (most - least) * part
  if (!isWait) return Math.abs(value - now) < 1e-9 ? now : roundedValue(value, most - least, false)
  return least === 0 && value < 500 ? 0 : Math.min(most, roundedWait(value))
}

/** Returns random points that are evenly spread over each axis (a Latin hypercube). */
export function latinHypercube(count: number, axes: number, random: Random): Point[] {
  const columns = Array.from({ length: axes }, () => shuffled(count, random))
  return Array.from({ length: count }, (_, row) => columns.map((column) => ((column[row] ?? 0) + random()) / count))
}

function shuffled(count: number, random: Random): number[] {
  const order = Array.from({ length: count }, (_, index) => index)
  for (let last = count - 1; last > 0; last -= 1) {
    const at = Math.floor(random() * (last + 1))
    ;[order[last], order[at]] = [order[at] as number, order[last] as number]
  }
  return order
}

/** A run: a candidate, one of the crowd's seeds, and a share of the crowd. */
export interface TuningTrial {
  readonly point: Point
  /** Index of the seed. */
  readonly seed: number
  /** Share of the crowd, above 0 and at most 1. */
  readonly share: number
}

/** The effort for each candidate: the number of seeds, and the share of the crowd in each run. */
export interface Effort {
  readonly seeds: number
  readonly share: number
}

interface TuningTrialsOptions<Result> {
  /** Makes runs. The results are in the order of `trials`. */
  readonly evaluate: (trials: readonly TuningTrial[]) => Promise<readonly Result[]>
  /** Returns a key. Candidates whose numbers are the same after rounding have the same key. */
  readonly keyOf: (point: Point) => string
  /** Maximum number of full runs. A run over a quarter of the crowd counts as a quarter. */
  readonly budget: number
}

export type TuningTrials<Result> = ReturnType<typeof createTrials<Result>>

export function createTrials<Result>({ evaluate, keyOf, budget }: TuningTrialsOptions<Result>) {
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
    /** Returns the number of full runs that may still be made. */
    left: () => budget - spent,
    /** Returns the number of full runs made so far. */
    spent: () => spent,
    /** Returns the cost of running the candidates, in full runs. Runs that were already made cost nothing. */
    costOf: (points: readonly Point[], effort: Effort) => missing(points, effort).length * effort.share,
    /** Runs the candidates, and returns the results of each, by seed. The caller checks the budget. */
    run: async (points: readonly Point[], effort: Effort): Promise<(readonly Result[])[]> => {
      const wanted = missing(points, effort)
      const results = await evaluate(wanted.map(([, trial]) => trial))
      spent += wanted.length * effort.share
      for (const [index, [key]] of wanted.entries()) known.set(key, results[index] as Result)
      return keyed(points, effort).map((trials) => trials.map(({ key }) => known.get(key) as Result))
    },
  }
}

/** What is searched, and how results are judged. */
export interface TuningProblem<Result> {
  readonly axes: number
  /** Candidates that are always tried, the most promising first. */
  readonly starts: readonly Point[]
  readonly trials: TuningTrials<Result>
  /** Returns numbers of a result that vary smoothly between candidates, e.g. logarithms. */
  outputsOf(result: Result): readonly number[]
  /**
   * Returns the score of a candidate from the outputs of its results; lower is better. A difference of 0.01 means 1 %.
   */
  score(outputs: readonly (readonly number[])[]): number
  /** Returns candidates that may be better than this one, judged by its results. */
  improvements(point: Point, results: readonly Result[]): readonly Point[]
  /** Number of seeds with which the best candidates run. */
  readonly seeds: number
  /** Seed of the search's own random numbers. */
  readonly seed: number
  /** Number of full runs that are reserved for the time after the search. */
  readonly spare: number
}

/** A candidate that was run, with its results. */
export interface TriedCandidate<Result> {
  readonly point: Point
  /** The results, one for each seed. */
  readonly results: readonly Result[]
  readonly score: number
}
