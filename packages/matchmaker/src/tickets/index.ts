/** The tickets of this process: validation, admission, storage, pools, backfills and timers. */
export { mayWaitWhilePlaying, type PlayedBy, type PlayedMatch } from './admission.js'
export {
  type Backfill,
  type BackfillChange,
  type BackfillInput,
  type BackfillStatus,
  type BackfillTeam,
  countPlayers,
  vacanciesAfterLeaving,
  filled,
  type PlacedTicket,
  type PresentTeams,
  presentIn,
  remaining,
  roomsBeside,
  type Vacancies,
  vacated,
} from './backfill-types.js'
export { complete, MOST, type PrivateSeat, readBody, type StoredTicket, type TicketState } from './checked-ticket.js'
export { type Cooldown, type Cooldowns, createCooldowns } from './cooldowns.js'
export { createPlayerLimits, type PlayerLimits } from './limits.js'
export type { TicketLoader } from './load-tickets.js'
export { createLocating } from './locate-players.js'
export { notePresent, type PresenceReport } from './ticket-expiry.js'
export { checkMatch, inMatch, type MatchInput, type PrivateMatch } from './private-matches.js'
export { createQueueFacts, createQueueRuntime } from './queue-runtime.js'
export {
  assertPlayerOfTicket,
  coordinates,
  isPlayerId,
  NO_PLAYER_ID,
  player,
  readTicketInput,
  readWaitOptions,
  ticketId,
  ticketPriority,
} from './ticket-input.js'
export { createStoreLedger, type Ledger } from './ticket-ledger.js'
export { isIn, slotIn } from './ticket-pools.js'
export {
  backfillOf,
  type BackfillRecord,
  type Match,
  NOWHERE,
  type QueueRuntime,
  type MatchSeat,
  ticketOf,
  type TicketRecord,
} from './ticket-record.js'
export { TicketStore } from './ticket-store.js'
export {
  type CancelReason,
  type FollowedUntil,
  hasEnded,
  isSettled,
  type MatchEnd,
  type MatchEvent,
  type Ticket,
  type TicketEvents,
  type TicketInput,
  type TicketStatus,
  type WaitingFor,
  type WaitOptions,
} from './ticket.js'
export { seatIdOf } from '@muster/hosting/internal'
