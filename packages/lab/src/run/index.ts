/** One run of the real matchmaker over a crowd, on virtual time. */
export type { MatchOutcome, RunOutcome, ServerUse, TicketOutcome } from './outcome.js'
export { defineLabQueues, runCrowd } from './run-crowd.js'
export { createVirtualClock } from './virtual-clock.js'
