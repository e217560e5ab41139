/**
 * The public interface of `@muster/matchmaker`: takes tickets, forms matches, gets a server for each match and gives
 * its address to every player.
 */
export { createMatchmaker } from './create-matchmaker.js'
export type {
  CloseOptions,
  ExportedTicket,
  ExportOptions,
  FoundPlayer,
  Imported,
  LongestWaiting,
  Matchmaker,
  QueueWait,
  Reconfigured,
  StopMatchOptions,
  TicketExplanation,
  TicketResult,
  TicketSnapshot,
} from './matches/matchmaker.js'
export type { MatchmakerOptions } from './options.js'
export {
  type AcceptanceDefinition,
  type CheckedQueue,
  checkQueue,
  defineQueue,
  type PresenceDefinition,
  type Queue,
  type QueueDefinition,
  queueFromJson,
  queueJsonSchema,
} from './queues/queue.js'
export {
  createMemoryStore,
  StoreCorrupt,
  StoreLocked,
  StoreTorn,
  type StoreMemory,
  type StoreOwner,
  type StoreRecord,
  type StoreRecords,
  openStore,
  type Store,
  type StoreOptions,
  type PoolDefinition,
} from '@muster/hosting'
export {
  type Activity,
  type AssignedLocation,
  type AssignedPort,
  type Assignment,
  type Attributes,
  type DeployDefinition,
  type DeploymentService,
  type LocationService,
  MatchTooLarge,
  type Player,
  type PortProbeDefinition,
  type ProbeDefinition,
  type RegistrationDefinition,
  type ReturnReason,
  type ServerFailure,
  type SpendBudget,
  type StopReason,
} from '@muster/hosting/internal'
export type { AvoidRule } from './queues/rules/avoid.js'
export type { CompareRule } from './queues/rules/compare.js'
export type { CustomRule, MatchProposal, ProposedPlayer, ProposedTicket } from './queues/rules/custom.js'
export type { DifferenceRule } from './queues/rules/difference.js'
export type { DistanceRule } from './queues/rules/distance.js'
export type { EqualRule } from './queues/rules/equal.js'
export type { LatencyRule } from './queues/rules/latency.js'
export type { OverlapRule } from './queues/rules/overlap.js'
export type { RequireRule } from './queues/rules/require.js'
export type { RolesRule } from './queues/rules/roles.js'
export type { RuleDefinition } from './queues/rules/definition.js'
export type { TeamDefinition } from './queues/rule-parts/teams.js'
export type { BalanceRule } from './queues/rules/balance.js'
export { predictedWin, type RatingValue } from './queues/rules/predicted-win.js'
export type { LinearRelaxation, RelaxationStep } from './queues/rule-parts/relaxing.js'
export { describeQueue, type LimitCurve, type LimitPoint, type QueueDescription } from './queues/describe-queue.js'
export type { Explanation, NearMiss } from './queues/explain.js'
export type { NextRelaxation, RelaxationChange } from './queues/next-relaxation.js'
export type { Backfill, BackfillChange, BackfillInput, BackfillStatus, BackfillTeam } from './tickets/backfill-types.js'
export type { PresenceReport } from './tickets/ticket-expiry.js'
export type {
  Acceptance,
  CancelReason,
  FollowedUntil,
  MatchEnd,
  MatchEvent,
  Ticket,
  TicketInput,
  TicketStatus,
  WaitingFor,
  WaitOptions,
} from './tickets/ticket.js'
export type { MatchInput, MatchTeamInput, PrivateMatch } from './tickets/private-matches.js'
export type { CooldownDefinition, Offence } from './queues/cooldown-terms.js'
export type { Cooldown } from './tickets/cooldowns.js'
export type { EventName, Listener, MatchmakerEvents, Placed } from './events.js'
export type { InspectedMatch, Inspection, QueueState } from './matches/inspection.js'
export type {
  AreaSurvey,
  FormingSurvey,
  QueueSurvey,
  ServerSurvey,
  Survey,
  Surveyed,
  SurveyOptions,
} from './matches/survey.js'
export type { WaitEstimate } from './wait-times/wait-estimate.js'
export {
  BackfillExists,
  EnrolmentRefused,
  InvalidBackfill,
  InvalidMatch,
  InvalidQueue,
  InvalidTicket,
  MatchmakerClosed,
  NothingToAccept,
  MatchNotRunning,
  PlayerBusy,
  PlayerCoolingDown,
  PlayerOverLimit,
  PlayerPlaying,
  BackfillVersionConflict,
  AlreadyAssigned,
  SeatRefused,
  ServerGone,
  ServerNotRegistered,
  Unavailable,
  UnknownBackfill,
  UnknownMatch,
  UnknownQueue,
  UnknownSeat,
  UnknownServer,
  UnknownTicket,
} from './errors.js'
export { type Locate, type Located, mmdbLocate, type MmdbLocate, type MmdbLocateOptions } from './locate/mmdb-locate.js'
export { instrument, type InstrumentOptions } from './telemetry/instrument.js'
export { createLimitMeter, type LimitMeter, type LimitUse } from './telemetry/metrics.js'
export type { Observed, ObservedClient } from './telemetry/instruments.js'
export { recordTickets, type RecordOptions } from './replay/record-tickets.js'
export { replayTickets, type Replay, type ReplayOptions } from './replay/replay-tickets.js'
export type {
  MatchQuality,
  Percentiles,
  QueueSummary,
  ReplayedMatch,
  ReplayedTicket,
  ReplaySummary,
} from './replay/replay-outcomes.js'
export { createTicketApi, type TicketApi, type TicketApiCounts } from './http-api/ticket-api.js'
export type { LobbyOfPlayer, TicketApiLimits, TicketApiOptions } from './http-api/api-options.js'
export type { BeaconSource } from './beacons.js'
export type { StreamTokenOptions, TicketCaller } from './http-api/callers.js'
export type { PlayerProfile, ProfileOptions, ProfileResolver } from './http-api/player-profiles.js'
export {
  createGroupStore,
  type Group,
  type GroupStore,
  type GroupStoreOptions,
  type StoredGroup,
} from './http-api/group-store.js'
export type { TicketService } from './commands.js'
export type { Awaitable } from '@muster/core/internal'
