import type { Variant } from '../figures/lab-result.js'
import type { Refusal } from '../figures/refusals.js'
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

/** Why players were refused in the runs of a variant, the commonest reason first. */
export function meanRefusals({ runs }: Variant): Refusal[] {
  const shares = new Map<string, number>()
  for (const { why, share } of runs.flatMap(({ figures }) => figures.refusals))
    shares.set(why, (shares.get(why) ?? 0) + share / runs.length)
  return Array.from(shares, ([why, share]) => ({ why, share })).toSorted((a, b) => b.share - a.share)
}
