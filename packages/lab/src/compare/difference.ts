import { meanOf, pairedIntervals, type Interval } from '../statistics/paired.js'

/**
 * What the data say of a variant beside the first. `alike`: any difference is too small to be felt; `unclear`: the data
 * cannot tell.
 */
export type Verdict = 'better' | 'worse' | 'alike' | 'unclear'

export interface Difference {
  /** Means over the seeds. */
  readonly first: number
  readonly other: number
  /** Mean of the differences: the other less the first. */
  readonly mean: number
  /** The interval that holds it with 95 % confidence. None for a single seed. */
  readonly interval?: Interval | undefined
}

/** The difference in one of `MEASURES`. */
export interface MeasuredDifference extends Difference {
  /** Key of the measure. */
  readonly key: string
  readonly verdict: Verdict
}

const CONFIDENCE = 0.95

/** How a difference is judged. */
export interface Judged {
  readonly better: 'lower' | 'higher'
  /** A difference that nobody would feel. */
  readonly least: number
  /**
   * How many measures are judged together: each has to be surer the more there are, so that all verdicts of a
   * comparison are right with 95 % confidence (Bonferroni).
   */
  readonly family: number
}

type Values = readonly (number | undefined)[]

/**
 * Values of both by seed, in the same order; undefined where a run has none. Only seeds that both have count; undefined
 * if there is none.
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

/** What the differences say. */
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
