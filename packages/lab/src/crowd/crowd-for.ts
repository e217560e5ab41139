import type { Crowd } from './crowd.js'
import { resampleCrowd } from './change/resample-crowd.js'
import { generateCrowd } from './generate/generate-crowd.js'
import type { CrowdParameters } from './generate/parameters.js'

/**
 * The same crowd by another seed: a synthetic one is made anew, any other is resampled. By its own seed a synthetic
 * crowd is itself, and so is any other by seed 0.
 * @throws {InvalidInput} if the crowd says of itself that it was made by parameters that cannot be
 */
export function crowdFor(source: Crowd, seed: number): Crowd {
  const { made } = source.header
  if (made === undefined) return seed === 0 ? source : resampleCrowd(source, seed)
  return seed === made.seed ? source : generateCrowd(made.parameters as CrowdParameters, seed)
}
