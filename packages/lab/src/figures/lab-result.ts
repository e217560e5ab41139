// pure: what runs of several queue files over several seeds gave
import type { RatingFigures } from '../ratings/rating-figures.js'
import type { Figures } from './figures.js'

/** The `format` of a saved result. It changes when older readers could not read new results. */
export const RESULT_FORMAT = 'muster-lab-result-1'

/** What `muster lab run` gives: the figures of each variant of the queues for each seed. Plain data. */
export interface LabResult {
  readonly format: typeof RESULT_FORMAT
  readonly crowd: CrowdSummary
  /** One seed for each run of a variant: the same crowd for every variant. At least one, all different. */
  readonly seeds: readonly number[]
  /** At least one; the others are compared with the first. */
  readonly variants: readonly Variant[]
}

export interface CrowdSummary {
  /** E.g. the name of its file. */
  readonly name: string
  /** Of the first seed. */
  readonly players: number
  readonly parties: number
  /** Epoch milliseconds. */
  readonly startsAt: number
  readonly durationMs: number
}

/** Queues that ran together, e.g. those of one file. */
export interface Variant {
  /** E.g. the name of the file. Names differ. */
  readonly name: string
  /** What each queue means, as `describeQueue` says it. */
  readonly queues: readonly { readonly name: string; readonly sentences: readonly string[] }[]
  /** In the order of the seeds. */
  readonly runs: readonly VariantRun[]
}

export interface VariantRun {
  readonly figures: Figures
  /** If ratings followed from the matches. */
  readonly ratings?: RatingFigures | undefined
  /** What was possible at all, beside what was reached. None where it was not asked for. */
  readonly possible?: readonly Possible[] | undefined
}

/** A cost that was reached, and the least that was possible. */
export interface Possible {
  readonly queue: string
  /** What is counted, e.g. `skill difference in a match`. */
  readonly what: string
  /** `km`, `ms`; empty for plain numbers. */
  readonly unit: string
  readonly reached: number
  readonly possible: number
  /** Whether it was possible indeed, or is only a bound that nothing can be below. */
  readonly kind: 'optimum' | 'lower bound'
}
