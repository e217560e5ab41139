/** What `@muster/matchmaker` offers: tickets in, groups out, a server for each, and every player told where to connect. */
export { createMatchmaker } from './create-matchmaker.js'
export type { CloseOptions, Matchmaker, TicketExplanation, TicketResult, WaitOptions } from './matchmaker.js'
export type { MatchmakerOptions } from './options.js'
export { defineQueue, queueFromJson, type AcceptanceDefinition, type Queue, type QueueDefinition } from './queues/queue.js'
export type {
  Deploy,
  DeployDefinition,
  PortProbe,
  PortProbeDefinition,
  Probe,
  ProbeDefinition,
  Registration,
  RegistrationDefinition,
} from './allocation/deploy.js'
export type {
  Attributes,
  AvoidRule,
  BalanceRule,
  CompareRule,
  CustomRule,
  DifferenceRule,
  DistanceRule,
  EqualRule,
  LatencyRule,
  LinearRelaxation,
  MatchProposal,
  Missing,
  OverlapRule,
  ProposedPlayer,
  ProposedTicket,
  RelaxationStep,
  Relaxing,
  RequireRule,
  RolesRule,
  RuleDefinition,
  TeamDefinition,
  WaitOf,
} from './rules/definition.js'
export type { Explanation, NearMiss, NextRelaxation, RelaxationChange } from './explain/explanation.js'
export type { Backfill, BackfillChange, BackfillInput, BackfillStatus, BackfillTeam } from './backfill/backfill.js'
export type { ExportedTicket, ExportOptions, Imported, Reconfigured, TicketSnapshot } from './handover/snapshot.js'
export type {
  Acceptance,
  CancelReason,
  Player,
  ReturnReason,
  Ticket,
  TicketInput,
  TicketStatus,
  WaitingFor,
} from './tickets/ticket.js'
export type { AssignedLocation, AssignedPort, Assignment } from './allocation/assignment.js'
export type { DeploymentService, LocationService } from './allocation/deployment-service.js'
export { MatchTooLarge } from './allocation/request-size.js'
export { createFileJournal, type FileJournal, type FileJournalOptions } from './allocation/journal-file.js'
export { JournalCorrupt, JournalLocked } from './allocation/journal-errors.js'
export { createMemoryJournal, type Intent, type Journal, type JournalEntry, type OpenIntent } from './allocation/journal.js'
export type { MatchPhase, MatchView } from './allocation/match.js'
export type { Activity, EventName, Listener, MatchEvent, MatchmakerEvents, StopReason } from './events.js'
export type { Inspection, QueueState } from './inspection.js'
export {
  BackfillExists,
  InvalidBackfill,
  InvalidQueue,
  InvalidTicket,
  MatchmakerClosed,
  NothingToAccept,
  NotRunning,
  PlayerBusy,
  StaleBackfill,
  TooLate,
  UnknownBackfill,
  UnknownMatch,
  UnknownQueue,
  UnknownTicket,
} from './errors.js'
export type { Located, Locate } from './locate/locate.js'
export { mmdbLocate, type MmdbLocate, type MmdbLocateOptions } from './locate/mmdb-locate.js'
export { instrument, type InstrumentOptions } from './telemetry/instrument.js'
export { createLimitMeter, type LimitMeter, type LimitUse } from './telemetry/limit-meter.js'
export type { Observed, ObservedClient } from './telemetry/observed.js'
export { recordTickets, type RecordOptions } from './replay/record-tickets.js'
export { replayTickets, type Replay, type ReplayOptions } from './replay/replay-tickets.js'
export type { ReplayedMatch, ReplayedTicket } from './replay/outcomes.js'
export type { QueueSummary, ReplaySummary } from './replay/summary.js'
export type { MatchQuality } from './replay/quality.js'
export type { Percentiles } from './replay/percentiles.js'
export { createTicketApi, type TicketApi, type TicketApiLimits, type TicketApiOptions } from './ticket-api/ticket-api.js'
export type { BeaconSource } from './ticket-api/beacons.js'
export type { TicketCaller } from './ticket-api/caller.js'
export type { TicketApiCounts } from './ticket-api/counts.js'
export type { TicketService } from './ticket-api/service.js'
export { compileQueue, type CompiledQueue } from './rules/compile.js'
export { createPool, STEP } from './kernel/pool.js'
export type { Grouped, Matches, Pool, Round, RoundOptions } from './kernel/model.js'
