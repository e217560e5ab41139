/**
 * What `@muster/matchmaker/partition` offers to stores of several processes: the matchmaker of the process that leads,
 * and the checks of a process that only creates tickets.
 */
export { createLeader, type Leader, type LeaderOptions } from './leader.js'
export { configure, type Config } from '../options.js'
export { createHeardWaits, createStoredKind, type HeardWaits, type StoredKind } from './follower-waits.js'
export type { LearnedWaits } from '../matches/matchmaker.js'
export {
  applyEntry,
  createWebhookDoor,
  type Journal,
  type JournalEntry,
  noSuchWebhook,
  type OpenIntent,
  TicketsGone,
  type WebhookDoorOptions,
} from '@muster/servers'
export type { Ledger } from '../tickets/ticket-ledger.js'
export type { StoredBackfill } from '../matches/resume-matches.js'
export type { NotLoaded } from '../tickets/load-tickets.js'
export { privateSeatOf, storedTicket, type StoredTicket, type TicketState } from '../tickets/checked-ticket.js'
export {
  createTicketChecker,
  type Creatable,
  type OtherTicket,
  type TicketChecker,
  type TicketCheckerOptions,
} from '../tickets/ticket-checker.js'
export { isSettled } from '../tickets/ticket.js'
export { assertPlayerOfTicket } from '../tickets/ticket-input.js'
