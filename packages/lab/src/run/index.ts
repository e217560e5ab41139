/** One run of the real matchmaker over a crowd, on virtual time. */
export type { MatchOutcome, RequestUse, RunOutcome, ServerUse, TicketOutcome } from './outcome.js'
export { defineLabQueues, inTheLab, runCrowd } from './run-crowd.js'
export { createVirtualClock } from './virtual-clock.js'
