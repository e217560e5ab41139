/** A number that the library promises, of one run or more. */
export interface Figure {
  readonly name: string
  /** Of the runs: what is compared with the goal. */
  readonly median: number
  readonly least: number
  readonly most: number
  readonly runs: number
  /** What it must reach; which side of it is good is what `ok` says. */
  readonly goal: number
  readonly unit: string
  readonly ok: boolean
  /** What the same runs found besides, in words, such as the share of tickets that was matched. */
  readonly beside?: string | undefined
}

/** What one part of the benchmark found. */
export interface Figures {
  readonly figures: readonly Figure[]
  /** The same measure of others, by their names. */
  readonly peers: Readonly<Record<string, unknown>>
}

/** What each run found; one number where every run finds the same, or where one is enough. */
type Runs = number | readonly number[]

/** A figure whose median must not be above its goal. */
export const atMost = (name: string, runs: Runs, goal: number, unit: string, beside?: string): Figure =>
  figure(name, runs, goal, unit, beside, (value) => value <= goal)

/** A figure whose median must not be below its goal. */
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

/** Three significant digits: more would be noise. */
const rounded = (value: number) => Number(value.toPrecision(3))

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
