import type { LabResult, Variant } from '../figures/lab-result.js'
import { differenceOf, type Difference, type MeasuredDifference } from './difference.js'
import { MEASURES, type Measure } from './measures.js'
import { sentencesOf } from './sentences.js'

/** A variant beside the first. */
export interface Comparison {
  readonly name: string
  readonly with: string
  readonly measures: readonly MeasuredDifference[]
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
    return { name: other.name, with: first.name, measures, sentences }
  })
}

function measuredDifferences(first: Variant, other: Variant): MeasuredDifference[] {
  const has = (variant: Variant, measure: Measure) => valuesOf(variant, measure).some((value) => value !== undefined)
  const both = MEASURES.filter((measure) => has(first, measure) && has(other, measure))
  return both.flatMap((measure) => {
    const judge = (difference: Difference) => ({
      better: measure.better,
      least: leastOf(measure, difference),
      family: both.length,
    })
    const difference = differenceOf(valuesOf(first, measure), valuesOf(other, measure), judge)
    return difference === undefined ? [] : [{ key: measure.key, ...difference }]
  })
}

/** Units of skill are of any size, so what would be felt is told as a share of what there is. */
const leastOf = ({ unit, least }: Measure, { first, other }: Difference): number =>
  unit === 'skill' ? 0.005 * Math.max(Math.abs(first), Math.abs(other)) : least

/** The value of a measure in each run of a variant. */
const valuesOf = ({ runs }: Variant, { of }: Pick<Measure, 'of'>) => runs.map(({ figures }) => of(figures))
