/** What `@muster/servers` offers: a game server for a match, from the intent to deploy it to its confirmed stop. */
export type { Allocator, Held, Inherited } from './allocator.js'
export {
  type AllocatorListener,
  createAllocations,
  createEndedMatches,
  type EndedMatches,
} from './allocations.js'
export { createAllocator } from './create-allocator.js'
export {
  bytesOfTicket,
  matchEnvironment,
  oversized,
  roughBytesOfTicket,
  shareOf,
  type Told,
  variablesBytes,
} from './match-environment.js'
export type { SpendBudget } from './server-limits.js'
export { MatchmakerClosed, StoreCorrupt, StoreLocked, StoreTorn, TicketsGone, Unavailable } from './errors.js'
export { createFileJournal, type FileJournal, type FileJournalOptions } from './journal/file-journal.js'
export { openStore, type StoreOptions } from './store/file-store.js'
export type { Store, StoreOwner, StoreRecords } from './store/store.js'
export type { StoreRecord } from './store/store-format.js'
export {
  applyEntry,
  createMemoryJournal,
  NO_JOURNAL,
  type Journal,
  type JournalEntry,
  type OpenIntent,
} from './journal/journal.js'
export { WRITTEN } from './journal/notes.js'
export {
  placementOf,
  viewOf,
  type Allocation,
  type AllocationPhase,
  type AllocationView,
  type FoundTicket,
  type InCommon,
  type Intent,
  type Order,
  type Placement,
} from './records/allocation.js'
export {
  ACTIVITIES,
  type Activity,
  type AssignedLocation,
  type AssignedPort,
  type Assignment,
  type PromisedLatency,
  type ReturnReason,
  type ServerFailure,
  type StopReason,
} from './records/assignment.js'
export {
  deploySchema,
  type Deploy,
  type DeployDefinition,
  type PortProbe,
  type PortProbeDefinition,
  type Probe,
  type ProbeDefinition,
  type Registration,
  type RegistrationDefinition,
} from './records/deploy.js'
export type { DeploymentService, LocationService } from './records/deployment-service.js'
export { LARGEST_ENVIRONMENT_BYTES, matchmakerTag } from './records/tags.js'
export { networkOf, type Attributes, type Player } from './records/player.js'
export { MatchTooLarge } from './deploy-request.js'
export { createNewestFirst } from './watching/list-sweep.js'
export { createWebhookDoor, noSuchWebhook, type WebhookDoorOptions } from './webhooks.js'
