// pure: spreads of numbers; rank correlation; normally distributed numbers
import type { Random } from '@muster/core/clock'

/** The spread of numbers. All are 0 for an empty list. */
export interface Spread {
  readonly count: number
  readonly mean: number
  /** Percentiles: the smallest value of the sample such that this share of the sample is at or below it. */
  readonly p10: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** A number with this many decimals, so that sums in another order give the same. */
export function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals
  // Without the addition, a small negative number would become −0, which JSON does not have.
  return Math.round(value * scale) / scale + 0
}

/** The percentile of ascending values, from 0 to 1, by the nearest rank: a value of the sample. 0 for an empty list. */
const percentile = (ascending: ArrayLike<number>, share: number): number =>
  ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? 0

/** The first index for which the condition holds, if it holds for all later ones too; `length` if there is none. */
export function firstIndex(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** @param values sorted in place. @param decimals number of decimals that are kept. */
export function spreadOf(values: Float64Array, decimals: number): Spread {
  values.sort()
  let sum = 0
  for (const value of values) sum += value
  const at = (share: number) => rounded(percentile(values, share), decimals)
  return {
    count: values.length,
    mean: rounded(values.length === 0 ? 0 : sum / values.length, decimals),
    p10: at(0.1),
    p50: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    p99: at(0.99),
    max: at(1),
  }
}

/**
 * Spearman's rank correlation of pairs of numbers: 1 if both are in the same order, 0 if they are unrelated. Equal
 * numbers share their ranks. 0 if there are fewer than two pairs, or all numbers of one side are equal.
 */
export function rankCorrelation(pairs: readonly (readonly [number, number])[]): number {
  const ones = ranksOf(pairs.map(([one]) => one))
  const others = ranksOf(pairs.map(([, other]) => other))
  const middle = (pairs.length - 1) / 2
  let [both, squares, otherSquares] = [0, 0, 0]
  for (const [index, rank] of ones.entries()) {
    const [one, other] = [rank - middle, (others[index] as number) - middle]
    both += one * other
    squares += one * one
    otherSquares += other * other
  }
  return squares === 0 || otherSquares === 0 ? 0 : both / Math.sqrt(squares * otherSquares)
}

/** The rank of each number, from 0; the average of their ranks for equal ones. */
function ranksOf(numbers: readonly number[]): Float64Array {
  const order = numbers.map((_, index) => index).toSorted((one, other) => at(numbers, one) - at(numbers, other))
  const ranks = new Float64Array(numbers.length)
  for (let first = 0; first < order.length;) {
    let next = first + 1
    while (next < order.length && at(numbers, order[next]) === at(numbers, order[first])) next += 1
    for (let place = first; place < next; place += 1) ranks[order[place] as number] = (first + next - 1) / 2
    first = next
  }
  return ranks
}

const at = (numbers: readonly number[], index: number | undefined): number => numbers[index as number] as number

/** Normally distributed with mean 0 and deviation 1, from two random numbers (Box and Muller). */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** Mean and standard deviation of a whole population instead of a sample. @param values at least one. */
export function meanAndDeviation(values: ArrayLike<number>): { readonly mean: number; readonly deviation: number } {
  const mean = meanOf(Array.from(values))
  return { mean, deviation: Math.sqrt(meanOf(Array.from(values, (value) => (value - mean) ** 2))) }
}
