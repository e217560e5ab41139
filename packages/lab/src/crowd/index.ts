/** Crowds of players: generated, recorded, mixed and cut. */
export { crowdFor } from './change-crowd.js'
export { CROWD_FORMAT, type Crowd, type CrowdParty, type CrowdPlayer, type CrowdVisit } from './crowd.js'
export { CITIES } from './generate/cities.js'
export { hashOf } from './generate/distributions.js'
