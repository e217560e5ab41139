import type { Crowd } from '../crowd/crowd.js'
import { generateCrowd } from '../crowd/generate/generate-crowd.js'
import type { CrowdParameters } from '../crowd/generate/parameters.js'

/** The crowd as another seed makes it. Recorded traffic stays as it is. */
export const crowdFor = (source: Crowd, seed: number): Crowd =>
  source.header.made === undefined ? source : generateCrowd(source.header.made.parameters as CrowdParameters, seed)
