import { seededRandom } from '@muster/core/clock'
import { meanOf } from './spread.js'

/**
 * Returns the probability that Student's t lies between −√freedom · tan(angle) and +√freedom · tan(angle) (Abramowitz
 * and Stegun, 26.7.3 and 26.7.4).
 */
function within(angle: number, freedom: number): number {
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)]
  const isOdd = freedom % 2 === 1
  let term = isOdd ? cosine : 1
  let sum = freedom === 1 ? 0 : term
  for (let power = isOdd ? 3 : 2; power <= freedom - 2; power += 2) {
    term *= ((power - 1) / power) * cosine ** 2
    sum += term
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum
}

/**
 * Returns the value that Student's t exceeds with the probability `tail`, found by bisection.
 * @param tail the probability, above 0 and at most 0.5.
 * @param freedom degrees of freedom: a whole number from 1.
 */
export function studentQuantile(tail: number, freedom: number): number {
  let [low, high] = [0, Math.PI / 2]
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2
    if (within(middle, freedom) < 1 - 2 * tail) low = middle
    else high = middle
  }
  return Math.sqrt(freedom) * Math.tan(low)
}

export interface Interval {
  readonly low: number
  readonly high: number
}

/** Number of resamples of the bootstrap (our choice): enough for two stable digits. */
const RESAMPLES = 4000
const SEED = 1
/** Number of equal differences that count as certain (our choice). In small crowds, fewer may be equal by chance. */
const CERTAIN = 4

/**
 * Returns a function that returns, for a confidence such as 0.95, the interval that contains the mean of the
 * differences. It uses the bootstrap of percentiles over the pairs. For few pairs those intervals are too narrow: with
 * five, one in six would be wrong. So an interval is never narrower than Student's. The same differences always have
 * the same intervals.
 * @param differences one for each pair. The result is undefined for fewer than two, and for two or three equal ones
 *   other than 0, because these do not show the variation.
 */
export function pairedIntervals(differences: readonly number[]): ((confidence: number) => Interval) | undefined {
  const count = differences.length
  if (count < 2) return undefined
  const isConstant = differences.every((one) => one === differences[0])
  if (isConstant && differences[0] !== 0 && count < CERTAIN) return undefined
  const mean = meanOf(differences)
  const variance = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1)
  const means = isConstant ? Float64Array.of(mean) : resampledMeans(differences)
  return (confidence) => {
    const tail = (1 - confidence) / 2
    const outside = Math.floor(tail * means.length)
    const [lowest, highest] = [means[outside] as number, means[means.length - 1 - outside] as number]
    const half = studentQuantile(tail, count - 1) * Math.sqrt(variance / count)
    return { low: Math.min(lowest, mean - half), high: Math.max(highest, mean + half) }
  }
}

/**
 * Returns the means of random resamples of the differences, in ascending order. Each has as many as there are
 * differences.
 */
function resampledMeans(differences: readonly number[]): Float64Array {
  const count = differences.length
  const random = seededRandom(SEED)
  const means = Float64Array.from({ length: RESAMPLES }, () => {
    let sum = 0
    for (let draw = 0; draw < count; draw += 1) sum += differences[Math.floor(random() * count)] as number
    return sum / count
  })
  return means.toSorted()
}
