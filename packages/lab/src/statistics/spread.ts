// pure: spreads of numbers; rank correlation; normally distributed numbers
import type { Random } from '@muster/core/clock'

/** The spread of numbers. All are 0 for an empty list. */
export interface Spread {
  readonly count: number
  readonly mean: number
  /** Percentiles: the smallest value of the sample for which 10, 50 or 90 % of the sample are at or below it. */
  readonly p10: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** Rounds a number to some decimals, so that sums in another order have the same result. */
export function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals
  // Adding 0 turns −0, which JSON cannot represent, into 0.
  return Math.round(value * scale) / scale + 0
}

/**
 * Returns a percentile of ascending values by the nearest rank, which is a value of the sample; 0 for an empty list.
 * `share` is from 0 to 1.
 */
const percentile = (ascending: ArrayLike<number>, share: number): number =>
  ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? 0

/**
 * Returns the first index for which a condition holds, found by bisection: the condition must hold for all later
 * indexes too. Returns `length` if it never holds.
 */
export function firstIndex(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Returns the spread of values. @param values sorted in place. @param decimals number of decimals to which results are
 * rounded.
 */
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
 * Returns Spearman's rank correlation of pairs of numbers: 1 if both are in the same order, 0 if they are unrelated.
 * Equal numbers share their ranks. Returns 0 for fewer than two pairs, or if all numbers of one side are equal.
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

/** Returns the rank of each number, from 0. Equal numbers get the average of their ranks. */
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

/** Draws a normally distributed number with mean 0 and deviation 1. Uses two random numbers (Box and Muller). */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Returns the mean and the standard deviation of values that are a whole population, not a sample. @param values at
 * least one.
 */
export function meanAndDeviation(values: ArrayLike<number>): { readonly mean: number; readonly deviation: number } {
  const mean = meanOf(Array.from(values))
  return { mean, deviation: Math.sqrt(meanOf(Array.from(values, (value) => (value - mean) ** 2))) }
}
