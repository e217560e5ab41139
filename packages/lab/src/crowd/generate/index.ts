/** Generates crowds from parameters: cities, arrivals, parties and skill. */
export { createRegionOf } from './cities.js'
export { createStreams, hashOf, logNormal, normal, type Streams, weibullAfter } from './distributions.js'
export { generateCrowd, wholeMs } from './generate-crowd.js'
export { type CrowdParameters, readParameters, readSeed } from './parameters.js'
