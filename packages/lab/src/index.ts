/** What `@muster/lab` offers: crowds, runs of queues over them, and what is told of the runs. */
export {
  CROWD_FORMAT,
  type Crowd,
  type CrowdHeader,
  type CrowdParty,
  type CrowdPlayer,
  type CrowdVisit,
} from './crowd/crowd.js'
export type { City } from './crowd/generate/cities.js'
export { generateCrowd, streamCrowd, type CrowdStream } from './crowd/generate/generate-crowd.js'
export type { CrowdParameters } from './crowd/generate/parameters.js'
export type { MatchOutcome, RequestUse, RunOutcome, ServerUse, TicketOutcome } from './run/outcome.js'
export type { Dimension, Figures, MatchFigures, ServerFigures, Slice, Spread } from './figures/figures.js'
