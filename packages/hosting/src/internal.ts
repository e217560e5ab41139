/** Exports for the other packages of this repository only. They may change without notice. */
export { type AllocatorListener, createEndedMatches, type EndedMatches, Fleet } from './fleet/fleet.js'
export { findStoreFiles, type StoreFileFound } from './store/file-store.js'
export type { RestoredMatches } from './fleet/restore-servers.js'
export type { BlockedBy } from './fleet/allocator-options.js'
export { Allocator } from './fleet/allocator.js'
export { BEAT_MS, LOST_AFTER_MS } from './game-servers/game-servers.js'
export {
  type MatchRoster,
  type OrdersWait,
  type Registered,
  ServerGone,
  ServerNotRegistered,
  type ServerOrders,
} from './game-servers/server-orders.js'
export { createJoinSigner, type JoinKeySet } from './game-servers/join-signer.js'
export type { JoinAlgorithm, JoinGrant } from './game-servers/join-tokens.js'
export { type Browser, browserSchema } from './browser/browser-definition.js'
export type { ListChanges, ListedPlace, ListedServer, ListKnown } from './browser/listed-servers.js'
export { createServerReader, type PageChange, type ServerReader } from './browser/live-pages.js'
export { LONGEST_CLAUSE, MOST_CLAUSES, type PingOf, type QueryFault } from './browser/server-filter.js'
export {
  LARGEST_PAGE,
  LONGEST_CURSOR,
  pageOf,
  type ReadQuery,
  readQuery,
  type ServerQuery,
} from './browser/server-pages.js'
export type { SeatGrant, SeatsGranted, StartRequest } from './browser/server-starts.js'
export { SeatRefused, UnknownSeat, UnknownServer } from './seats/seat.js'
export type { SeatRequest } from './seats/seats.js'
export type { FreedReason, ServerListener, ServerState, ServerView } from './game-servers/server-overview.js'
export { type EnrolledServer, type EnrolmentCommands, EnrolmentRefused } from './fleet/enrolling.js'
export { createServerKeys, newSecret } from './game-servers/server-keys.js'
export {
  EnrolmentBody,
  type EnrolmentRequest,
  type MatchResult,
  RegistrationBody,
  ReportBody,
  type SeatsWanted,
  ServerAttributes,
  ShownName,
  type ServerRegistration,
  type ServerReport,
} from './records/server-reports.js'
export { ResultOutbox, type OutboxRecords, type ResultSetAside, resultsSchema } from './results/result-outbox.js'
export { MatchTooLarge } from './environment/server-environment.js'
export { MatchmakerClosed, TicketsGone, Unavailable } from './errors.js'
export {
  bytesOfTicket,
  matchEnvironment,
  oversized,
  roughBytesOfTicket,
  seatIdOf,
  shareOf,
  type ServerSettings,
  variablesBytes,
} from './environment/match-environment.js'
export {
  ENROLLED,
  type FoundTicket,
  type SharedAttributes,
  type Order,
  type Placement,
  type PlayerWhoLeft,
} from './records/order.js'
export { type HostedMatch, placementOf, type Server, type ServerPhase } from './records/server.js'
export { type AllocationView, matchViewOf, poolServerViewOf } from './records/views.js'
export {
  ACTIVITIES,
  type Activity,
  type AssignedLocation,
  type AssignedPort,
  type Assignment,
  degrees,
  type DrainReason,
  type PromisedLatency,
  type ReturnReason,
  type ServerFailure,
  type StopReason,
} from './records/assignment.js'
export {
  type Deploy,
  type DeployDefinition,
  deploySchema,
  type PortProbe,
  type PortProbeDefinition,
  type Probe,
  type ProbeDefinition,
  type Registration,
  type RegistrationDefinition,
} from './records/deploy.js'
export { type Enrolment, type EnrolmentView } from './pools/enrolment.js'
export { type Pool, poolDeploySchema, poolSchema, poolSchemaWith } from './pools/pool-definition.js'
export { lossShare, meanIdle, mostWarm, stockFor } from './pools/stock-size.js'
export type { PoolPlaceView } from './pools/pool-place.js'
export type { DeploymentService, LocationService } from './sources/service/deployment-service.js'
export { createPolledSource } from './sources/polled-source.js'
export { createServiceSource } from './sources/service/service-source.js'
export { type Attributes, networkOf, type Player } from './records/player.js'
export { LARGEST_ENVIRONMENT_BYTES, matchmakerTag } from './records/tags.js'
export type { SpendBudget } from './fleet/spending-limiter.js'
export { splitRecordOf3 } from './store/earlier-records.js'
export {
  afterEntries,
  fleetOf,
  type HostingEntry,
  type HostingRecord,
  keyOf,
  type MatchRecord,
  putChanged,
  type ServerRecord,
  type StoredFleet,
} from './store/entries.js'
export { createMemoryServerLog, createServerLog, NO_SERVER_LOG, type ServerLog } from './store/server-log.js'
export { WRITTEN } from './store/server-log-writer.js'
export {
  createWebhookEndpoint,
  noSuchWebhook,
  type WebhookEndpointOptions,
  webhookTokenIn,
} from './sources/service/webhooks.js'
export type { HttpAllocator } from './sources/http-allocator.js'
