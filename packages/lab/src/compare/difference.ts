import type { Dimension, Slice, Variant } from '../figures/index.js'
import { type Interval, meanOf, pairedIntervals, type Spread } from '../statistics/index.js'
import { type Unit, valueIn } from './measures.js'

/**
 * The result of comparing a variant with the first one. `alike`: any difference is too small to matter. `unclear`: the
 * data cannot show whether there is a difference.
 */
export type Verdict = 'better' | 'worse' | 'alike' | 'unclear'

export interface Difference {
  /** Means over the seeds: of the first variant, and of the other. */
  readonly first: number
  readonly other: number
  /** Mean of the differences: the other variant's value minus the first one's. */
  readonly mean: number
  /** The interval that contains the true difference with 95 % confidence. Undefined for a single seed. */
  readonly interval?: Interval | undefined
}

/** The difference of two variants in one of `MEASURES`. */
export interface MeasuredDifference extends Difference {
  /** Key of the measure. */
  readonly key: string
  readonly verdict: Verdict
}

const CONFIDENCE = 0.95

/** How a difference is judged. */
interface Judged {
  readonly better: 'lower' | 'higher'
  /** The smallest difference that matters. */
  readonly least: number
  /**
   * Number of measures that are judged together. The more there are, the more certain each verdict must be. All
   * verdicts of a comparison together are then right with 95 % confidence (Bonferroni).
   */
  readonly family: number
}

type Values = readonly (number | undefined)[]

/**
 * Returns the difference of two variants. Both lists have one value for each seed, in the same order; undefined if a
 * run has none. Only seeds with both values count. Returns undefined if there are none.
 */
export function differenceOf(first: Values, other: Values): Difference | undefined {
  const pairs = pairsOf(first, other)
  if (pairs.length === 0) return undefined
  const differences = differencesOf(pairs)
  return {
    first: meanOf(pairs.map(([one]) => one)),
    other: meanOf(pairs.map(([, two]) => two)),
    mean: meanOf(differences),
    interval: pairedIntervals(differences)?.(CONFIDENCE),
  }
}

/** Returns the verdict about a difference. */
export const judge = (first: Values, other: Values, judged: Judged): Verdict =>
  verdictOf(pairedIntervals(differencesOf(pairsOf(first, other)))?.(1 - (1 - CONFIDENCE) / judged.family), judged)

const pairsOf = (first: Values, other: Values) =>
  first.flatMap((one, index): (readonly [number, number])[] => {
    const two = other[index]
    return one === undefined || two === undefined ? [] : [[one, two]]
  })

const differencesOf = (pairs: readonly (readonly [number, number])[]) => pairs.map(([one, two]) => two - one)

function verdictOf(interval: Interval | undefined, { better, least }: Judged): Verdict {
  if (interval === undefined) return 'unclear'
  const { low, high } = interval
  if (low >= -least && high <= least) return 'alike'
  if (low <= 0 && high >= 0) return 'unclear'
  return low > 0 === (better === 'higher') ? 'better' : 'worse'
}

/** A number that describes a part of the players. */
interface SliceMeasure {
  readonly key: string
  /** The head of the measure's column in a table. */
  readonly label: string
  readonly unit: Unit
  /** Returns the measure's value for a part of the players; undefined if none of them has a value. */
  of(slice: Slice): number | undefined
}

type SpreadKey = 'distanceKm' | 'latencyMs' | 'skillSpread' | 'teamGap' | 'winChance' | 'waitMs'

const ofSpread = (key: string, label: string, unit: Unit, spread: SpreadKey, value: keyof Spread): SliceMeasure => ({
  key,
  label,
  unit,
  of: (slice) => valueIn(slice[spread], value),
})

/** All measures of slices, in display order. */
export const SLICE_MEASURES: readonly SliceMeasure[] = [
  { key: 'matched', label: 'matched', unit: 'share', of: ({ matched }) => matched },
  { key: 'gave-up', label: 'gave up', unit: 'share', of: ({ gaveUp }) => gaveUp },
  ofSpread('wait-p50', 'wait, half', 'ms', 'waitMs', 'p50'),
  ofSpread('wait-p90', 'wait, 90 %', 'ms', 'waitMs', 'p90'),
  ofSpread('wait-p99', 'wait, 99 %', 'ms', 'waitMs', 'p99'),
  ofSpread('distance', 'distance', 'km', 'distanceKm', 'mean'),
  ofSpread('latency', 'latency', 'roundTripMs', 'latencyMs', 'mean'),
  ofSpread('skill-spread', 'skill spread', 'skill', 'skillSpread', 'mean'),
  ofSpread('team-gap', 'team gap', 'skill', 'teamGap', 'mean'),
  ofSpread('win-chance', 'own team wins', 'share', 'winChance', 'mean'),
]

/**
 * The difference of two variants in one of `SLICE_MEASURES`, for one part of the players. It has no verdict, because
 * there are too many such differences.
 */
export interface SliceDifference extends Difference {
  readonly dimension: Dimension
  readonly group: string
  /** Key of the measure. */
  readonly key: string
}

const DIMENSIONS: readonly Dimension[] = ['queue', 'region', 'partySize', 'skillBand']

/** Returns the groups of a dimension that occur in any run of the variants, in order of appearance. */
export const groupsOf = (variants: readonly Variant[], dimension: Dimension): readonly string[] => [
  ...new Set(variants.flatMap(({ runs }) => runs.flatMap(({ figures }) => Object.keys(figures.by[dimension])))),
]

/** Returns a group's figures in each run of a variant; undefined if the run has no players of the group. */
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
