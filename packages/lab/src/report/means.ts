import { meanOf } from '../statistics/paired.js'

/** Mean, least and greatest over the seeds of a variant. */
export interface OverSeeds {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** Undefined where no run has it. */
export function overSeeds(values: readonly (number | undefined)[]): OverSeeds | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : { mean: meanOf(known), low: Math.min(...known), high: Math.max(...known) }
}
