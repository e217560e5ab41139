/** A measured number with its goal. It may have several runs. */
export interface Figure {
  readonly name: string
  /** Median, minimum and maximum over the runs. The median is compared with the goal. */
  readonly median: number
  readonly least: number
  readonly most: number
  readonly runs: number
  /** The goal. `ok` says whether it is met, because some figures must be above it and others below. */
  readonly goal: number
  readonly unit: string
  readonly ok: boolean
  /** A further result of the same runs in words, e.g. the share of tickets that was matched. */
  readonly beside?: string | undefined
}

/** The results of one part of the benchmark. */
export interface Figures {
  readonly figures: readonly Figure[]
  /** The same measure of other libraries, by their names. */
  readonly peers: Readonly<Record<string, unknown>>
}

/** The result of each run; a single number if all runs have the same result, or if one run is enough. */
type Runs = number | readonly number[]

/** Creates a figure whose median must be at most its goal. */
export const atMost = (name: string, runs: Runs, goal: number, unit: string, beside?: string): Figure =>
  figure(name, runs, goal, unit, beside, (value) => value <= goal)

/** Creates a figure whose median must be at least its goal. */
export const atLeast = (name: string, runs: Runs, goal: number, unit: string, beside?: string): Figure =>
  figure(name, runs, goal, unit, beside, (value) => value >= goal)

function figure(
  name: string,
  runs: Runs,
  goal: number,
  unit: string,
  beside: string | undefined,
  isGood: (value: number) => boolean,
): Figure {
  const values = typeof runs === 'number' ? [runs] : runs
  if (values.length === 0) throw new RangeError(`${name}: there are no runs`)
  const middle = median(values)
  return {
    name,
    median: rounded(middle),
    least: rounded(Math.min(...values)),
    most: rounded(Math.max(...values)),
    runs: values.length,
    goal,
    unit,
    ok: isGood(middle),
    ...(beside === undefined ? {} : { beside }),
  }
}

/** Rounds to three significant digits. More would be noise. */
const rounded = (value: number) => Number(value.toPrecision(3))

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
