import type { LabResult, Variant } from '../figures/lab-result.js'
import { differenceOf, judge, type Difference, type MeasuredDifference } from './difference.js'
import { MEASURES, type Measure } from './measures.js'
import { sentencesOf } from './sentences.js'
import { sliceDifferences, type SliceDifference } from './slices.js'

/** A variant beside the first. */
export interface Comparison {
  readonly name: string
  readonly with: string
  readonly measures: readonly MeasuredDifference[]
  /** The same for each queue, region, party size and band of skill. */
  readonly slices: readonly SliceDifference[]
  /** Plain English: what it is better and worse at, and what the data cannot tell. */
  readonly sentences: readonly string[]
}

/** Compares each further variant with the first. Both met the same crowds, so the runs of a seed are a pair. */
export function compare({ variants, seeds }: LabResult): readonly Comparison[] {
  const [first, ...others] = variants
  if (first === undefined) return []
  return others.map((other) => {
    const measures = measuredDifferences(first, other)
    const sentences = sentencesOf({ name: other.name, first: first.name, measures, seeds: seeds.length })
    return { name: other.name, with: first.name, measures, slices: sliceDifferences(first, other), sentences }
  })
}

function measuredDifferences(first: Variant, other: Variant): MeasuredDifference[] {
  const both = MEASURES.flatMap((measure) => {
    const [one, two] = [valuesOf(first, measure), valuesOf(other, measure)]
    const difference = differenceOf(one, two)
    return difference === undefined ? [] : [{ measure, one, two, difference }]
  })
  return both.map(({ measure, one, two, difference }) => {
    const judged = { better: measure.better, least: leastOf(measure, difference), family: both.length }
    return { key: measure.key, ...difference, verdict: judge(one, two, judged) }
  })
}

const leastOf = ({ unit, least }: Measure, { first, other }: Difference): number =>
  unit === 'share' ? least : Math.max(least, 0.01 * Math.abs(first), 0.01 * Math.abs(other))

/** The value of a measure in each run of a variant. */
export const valuesOf = ({ runs }: Variant, { of }: Pick<Measure, 'of'>) => runs.map(({ figures }) => of(figures))
