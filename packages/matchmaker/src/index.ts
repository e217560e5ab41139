/** What `@muster/matchmaker` offers: tickets in, groups out, a server for each, and every player told where to connect. */
export { createMatchmaker, type CloseOptions, type Matchmaker } from './matchmaker.js'
export type { MatchmakerOptions } from './options.js'
export { defineQueue, type DeployDefinition, type Queue, type QueueDefinition } from './queue.js'
export type { DistanceStep } from './grouping/reach.js'
export type { CancelReason, Player, ReturnReason, Ticket, TicketInput, TicketStatus, WaitingFor } from './tickets/ticket.js'
export type { AssignedLocation, AssignedPort, Assignment } from './allocation/assignment.js'
export type { DeploymentService } from './allocation/deployment-service.js'
export { createMemoryJournal, type Intent, type Journal, type JournalEntry, type OpenIntent } from './allocation/journal.js'
export type { MatchPhase, MatchView } from './allocation/match.js'
export type { Activity, EventName, Listener, MatchEvent, MatchmakerEvents, StopReason } from './events.js'
export type { Inspection, QueueState } from './inspection.js'
export {
  InvalidQueue,
  InvalidTicket,
  MatchmakerClosed,
  PlayerBusy,
  TooLate,
  UnknownMatch,
  UnknownQueue,
  UnknownTicket,
} from './errors.js'
export type { Located, Locate } from './locate/locate.js'
export { mmdbLocate, type MmdbLocate, type MmdbLocateOptions } from './locate/mmdb-locate.js'
