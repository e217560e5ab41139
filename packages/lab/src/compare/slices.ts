import type { Dimension, Slice } from '../figures/figures.js'
import type { Variant } from '../figures/lab-result.js'
import { differenceOf, type Difference } from './difference.js'
import { SLICE_MEASURES } from './slice-measures.js'

/** The difference in one of `SLICE_MEASURES` of one part of the players. It is not judged: there are too many. */
export interface SliceDifference extends Difference {
  readonly dimension: Dimension
  readonly group: string
  /** Key of the measure. */
  readonly key: string
}

const DIMENSIONS: readonly Dimension[] = ['queue', 'region', 'partySize', 'skillBand']

/** The groups of a dimension in any run of the variants, in the order in which they first come. */
export const groupsOf = (variants: readonly Variant[], dimension: Dimension): readonly string[] => [
  ...new Set(variants.flatMap(({ runs }) => runs.flatMap(({ figures }) => Object.keys(figures.by[dimension])))),
]

/** A group's slice in each run of a variant; undefined where it has no players. */
export const slicesOf = ({ runs }: Variant, dimension: Dimension, group: string): readonly (Slice | undefined)[] =>
  runs.map(({ figures: { by } }) => (Object.hasOwn(by[dimension], group) ? by[dimension][group] : undefined))

export function sliceDifferences(first: Variant, other: Variant): SliceDifference[] {
  return DIMENSIONS.flatMap((dimension) =>
    groupsOf([first, other], dimension).flatMap((group) => {
      const [one, two] = [slicesOf(first, dimension, group), slicesOf(other, dimension, group)]
      return SLICE_MEASURES.flatMap(({ key, of }) => {
        const values = (slices: typeof one) => slices.map((slice) => slice && of(slice))
        const difference = differenceOf(values(one), values(two))
        return difference === undefined ? [] : [{ dimension, group, key, ...difference }]
      })
    }),
  )
}
