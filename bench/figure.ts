/** A number that the library promises. */
export interface Figure {
  readonly name: string
  readonly value: number
  /** What it must reach; which side of it is good is what `ok` says. */
  readonly goal: number
  readonly unit: string
  readonly ok: boolean
}

/** What one part of the benchmark found. */
export interface Figures {
  readonly figures: readonly Figure[]
  /** The same measure of others, by their names. */
  readonly peers: Readonly<Record<string, unknown>>
}

/** A figure that must not be above its goal. */
export const atMost = (name: string, value: number, goal: number, unit: string): Figure => ({
  name,
  value: rounded(value),
  goal,
  unit,
  ok: value <= goal,
})

/** A figure that must not be below its goal. */
export const atLeast = (name: string, value: number, goal: number, unit: string): Figure => ({
  name,
  value: rounded(value),
  goal,
  unit,
  ok: value >= goal,
})

/** Three significant digits: more would be noise. */
const rounded = (value: number) => Number(value.toPrecision(3))

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
