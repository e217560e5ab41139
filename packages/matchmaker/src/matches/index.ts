/** From the tick to the end of a match: the assembled parts, the commands of callers, and the inspection. */
export { assemble } from './assembly.js'
export type { InspectedMatch, Inspection } from './inspection.js'
export type {
  ExportedTicket,
  FoundPlayer,
  LearnedWaits,
  LongestWaiting,
  Matchmaker,
  QueueWait,
  TicketExplanation,
  TicketResult,
} from './matchmaker.js'
export type { StoredBackfill } from './restore-matches.js'
