/** From the tick to the end of a match: the parts put together, what callers may do, and what can be looked at. */
export { assemble } from './assembly.js'
export { guarded } from './guard.js'
export type { Inspection } from './inspection.js'
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
export type { StoredBackfill } from './resume-matches.js'
