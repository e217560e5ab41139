import { seededRandom } from '@muster/core/clock'
import { studentQuantile } from './student.js'

export interface Interval {
  readonly low: number
  readonly high: number
}

/** Resamples of the bootstrap: enough for two stable digits (our choice). */
const RESAMPLES = 4000
const SEED = 1

/**
 * Intervals that hold the mean of differences with a confidence, e.g. 0.95, by the bootstrap of percentiles over the
 * pairs. Of few pairs it makes too narrow intervals (of five, it would be wrong one time in six), so an interval is
 * never narrower than Student's. The same differences always give the same intervals.
 * @param differences one for each pair. Undefined for fewer than two, which tell nothing of chance.
 */
export function pairedIntervals(differences: readonly number[]): ((confidence: number) => Interval) | undefined {
  const count = differences.length
  if (count < 2) return undefined
  const mean = meanOf(differences)
  const variance = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1)
  const means = differences.every((one) => one === differences[0]) ? Float64Array.of(mean) : resampledMeans(differences)
  return (confidence) => {
    const tail = (1 - confidence) / 2
    const outside = Math.floor(tail * means.length)
    const [lowest, highest] = [means[outside] as number, means[means.length - 1 - outside] as number]
    const half = studentQuantile(tail, count - 1) * Math.sqrt(variance / count)
    return { low: Math.min(lowest, mean - half), high: Math.max(highest, mean + half) }
  }
}

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** Means of as many differences, drawn again and again from them; ascending. */
function resampledMeans(differences: readonly number[]): Float64Array {
  const count = differences.length
  const draws = drawsOf(count)
  const means = new Float64Array(RESAMPLES)
  for (let resample = 0; resample < RESAMPLES; resample += 1) {
    let sum = 0
    for (let draw = 0; draw < count; draw += 1) sum += differences[draws[resample * count + draw] as number] as number
    means[resample] = sum / count
  }
  return means.toSorted()
}

/** Indexes drawn for all resamples of so many pairs: the same for every measure, and so made once. */
function drawsOf(count: number): Uint32Array {
  const known = drawsByCount.get(count)
  if (known !== undefined) return known
  const random = seededRandom(SEED)
  const draws = Uint32Array.from({ length: RESAMPLES * count }, () => Math.floor(random() * count))
  drawsByCount.clear()
  drawsByCount.set(count, draws)
  return draws
}

/** Only of the last count: a comparison has one. */
const drawsByCount = new Map<number, Uint32Array>()
