// pure: how numbers are spread

/** How a number is spread. All are 0 if there is none. */
export interface Spread {
  readonly count: number
  readonly mean: number
  /** Percentiles: the smallest value that occurs below or at which that share of the values lies. */
  readonly p10: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** A number with so many decimals, so that sums in another order do not show. */
export function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals
  // Without the sum, a small negative number would become −0, which JSON does not have.
  return Math.round(value * scale) / scale + 0
}

/** The percentile of ascending values, from 0 to 1, by the nearest rank: a value that occurs. 0 if there is none. */
const percentile = (ascending: ArrayLike<number>, share: number): number =>
  ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? 0

/** @param values are sorted in place. @param decimals that are kept. */
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
