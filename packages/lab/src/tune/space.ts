// pure: the schedules that are searched, as points whose coordinates are from 0 to 1
import type { Random } from '@muster/core/clock'
import type { Change } from './limits.js'
import { inside, roundedValue, roundedWait, scheduleOf, type ScheduleShape, shapeOf, SOONEST_MS } from './schedule.js'
import type { Searched, SearchedLimit, SearchedNumber } from './searched.js'

/** A candidate: one coordinate from 0 to 1 for each axis. */
export type Point = readonly number[]

export type Space = ReturnType<typeof createSpace>

type Part = keyof ScheduleShape

/** One number of one limit, or a number by itself. */
type Axis =
  { readonly limit: SearchedLimit; readonly part: Part } | { readonly number: SearchedNumber; readonly part: 'number' }

export function createSpace({ limits, numbers }: Searched) {
  const axes: Axis[] = [
    ...limits.flatMap((limit) => partsOf(limit).map((part) => ({ limit, part }))),
    ...numbers.map((number) => ({ number, part: 'number' as const })),
  ]
  const coordinate = (point: Point, of: SearchedLimit | SearchedNumber, part: Part | 'number') => {
    const at = axes.findIndex((axis) => axis.part === part && ('limit' in axis ? axis.limit : axis.number) === of)
    return at === -1 ? undefined : point[at]
  }
  const scheduleAt = (point: Point, limit: SearchedLimit) => {
    const at = (part: Part, fixed: number) => coordinate(point, limit, part) ?? fixed
    const shape = { start: at('start', 0), end: at('end', 1), time: at('time', 0), delay: at('delay', 0.5) }
    return scheduleOf(limit.space, shape)
  }
  /** The same candidate in `factor` times the time. */
  const retimed = (point: Point, factor: number) =>
    point.map((value, at) => {
      const axis = axes[at] as Axis
      if (axis.part !== 'time') return value
      return inside(value + Math.log(factor) / Math.log(axis.limit.space.latestMs / SOONEST_MS))
    })
  return {
    axes: axes.length,
    /** The point nearest to what the file says. */
    own: axes.map((axis) =>
      axis.part === 'number' ? partOfNumber(axis.number) : shapeOf(axis.limit.space, axis.limit.relaxing)[axis.part],
    ),
    /** What a candidate changes, in numbers that a designer would write. */
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
    /** The same candidate, stricter (a factor above 1) or looser in all: in its times, and where its limits begin. */
    stricter: (point: Point, factor: number) =>
      retimed(point, factor).map((value, at) => {
        if (axes[at]?.part !== 'start') return value
        return factor > 1 ? value / factor : 1 - (1 - value) * factor
      }),
    /** The same candidate whose limits begin and end elsewhere: 0 as strict, 1 as loose as can be from the start. */
    withStart: (point: Point, start: number) => point.map((value, at) => (axes[at]?.part === 'start' ? start : value)),
  }
}

/** What can differ in the schedules of a limit. */
function partsOf({ space }: SearchedLimit): Part[] {
  const finite = space.endsFree ? space.steps - 1 : space.steps
  const values: Part[] = space.strictest === space.loosest ? [] : finite === 1 ? ['start'] : ['start', 'end']
  return [...values, 'time', ...(space.form === 'steps' && space.steps === 2 ? [] : (['delay'] as const))]
}

const partOfNumber = ({ now, least, most }: SearchedNumber) =>
  most === least ? 0 : inside((now - least) / (most - least))

function numberAt({ isWait, now, least, most }: SearchedNumber, part: number): number {
  const value = least + (most - least) * part
  if (!isWait) return Math.abs(value - now) < 1e-9 ? now : roundedValue(value, most - least, false)
  return least === 0 && value < 500 ? 0 : Math.min(most, roundedWait(value))
}

/** Points that spread evenly over each axis. */
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

interface TrialsOptions<Result> {
  /** Carries out runs; the results are in their order. */
  readonly evaluate: (trials: readonly Trial[]) => Promise<readonly Result[]>
  /** Candidates of the same key are the same once their numbers are rounded. */
  readonly keyOf: (point: Point) => string
  /** Whole runs that may be made; a run over a quarter of the crowd counts a quarter. */
  readonly budget: number
}

export type Trials<Result> = ReturnType<typeof createTrials<Result>>

export function createTrials<Result>({ evaluate, keyOf, budget }: TrialsOptions<Result>) {
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
    /** What is left of the budget. */
    left: () => budget - spent,
    /** Whole runs that have been made. */
    spent: () => spent,
    /** What the candidates would cost now. Runs that were made cost nothing. */
    costOf: (points: readonly Point[], effort: Effort) => missing(points, effort).length * effort.share,
    /** The results of each candidate, by seed. The caller looks after the budget. */
    run: async (points: readonly Point[], effort: Effort): Promise<(readonly Result[])[]> => {
      const wanted = missing(points, effort)
      const results = await evaluate(wanted.map(([, trial]) => trial))
      spent += wanted.length * effort.share
      for (const [index, [key]] of wanted.entries()) known.set(key, results[index] as Result)
      return keyed(points, effort).map((trials) => trials.map(({ key }) => known.get(key) as Result))
    },
  }
}

/** What is searched. */
export interface Problem<Result> {
  readonly axes: number
  /** Candidates that are tried in any case, the most promising first. */
  readonly starts: readonly Point[]
  readonly trials: Trials<Result>
  /** Numbers of a result that change smoothly from candidate to candidate, e.g. logarithms. */
  outputsOf(result: Result): readonly number[]
  /** How bad a candidate is, by the outputs of its results: a difference of 0.01 is 1 % worse. */
  score(outputs: readonly (readonly number[])[]): number
  /** Candidates that may be better than this one, judged by its results. */
  improvements(point: Point, results: readonly Result[]): readonly Point[]
  /** Number of seeds that the best candidates are run on. */
  readonly seeds: number
  /** Seed of the search itself. */
  readonly seed: number
  /** Whole runs that are left for others at the end. */
  readonly spare: number
}

/** A candidate that was run. */
export interface Tried<Result> {
  readonly point: Point
  /** One for each seed. */
  readonly results: readonly Result[]
  readonly score: number
}
