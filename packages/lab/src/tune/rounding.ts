// pure: numbers as a designer writes them

/** Significant digits of a number, and least number of different numbers within a range. */
const DIGITS = 2

/**
 * The number with two significant digits; with more where the range is so narrow that two could not tell its parts
 * apart, e.g. 1024 in a range from 1000 to 1050.
 * @param range the difference of the highest and the lowest number that there may be.
 */
export function roundedValue(value: number, range: number, whole: boolean): number {
  if (!Number.isFinite(value)) return value
  const unit = Math.min(unitOf(value), unitOf(range))
  const by = whole ? Math.max(1, unit) : unit
  // Multiples of 0.1 and the like are not exact.
  return by === Infinity ? value : Number((Math.round(value / by) * by).toPrecision(12))
}

/** Milliseconds as whole seconds, at least one; above 99 s with two significant digits. */
export const roundedWait = (ms: number): number => Math.max(1, roundedValue(ms / 1000, Infinity, true)) * 1000

const unitOf = (value: number): number => {
  const size = Math.abs(value)
  return size === 0 || size === Infinity ? Infinity : 10 ** (Math.floor(Math.log10(size)) + 1 - DIGITS)
}
