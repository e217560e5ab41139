/** What `@muster/servers` offers: a game server for a match, from the intent to deploy it to its confirmed stop. */
export type { Allocator, Held, Inherited } from './allocator.js'
export { createAllocations } from './allocations.js'
export { MatchmakerClosed } from './closed.js'
export { createAllocator } from './create-allocator.js'
export { createEndedMatches, type EndedMatches } from './ended-matches.js'
export { matchEnvironment } from './environment.js'
export {
  bytesOfTicket,
  oversized,
  roughBytesOfTicket,
  shareOf,
  variablesBytes,
  type Told,
} from './environment-share.js'
export type { SpendBudget } from './governor.js'
export { readIfThere } from './journal/journal-disk.js'
export { JournalCorrupt, JournalLocked, JournalTorn, TicketsGone } from './journal/journal-errors.js'
export { createFileJournal, type FileJournal, type FileJournalOptions } from './journal/journal-file.js'
export { placeOf, takeLock, type JournalLock, type Place } from './journal/journal-lock.js'
export {
  applyEntry,
  createMemoryJournal,
  NO_JOURNAL,
  type Journal,
  type JournalEntry,
  type OpenIntent,
} from './journal/journal.js'
export { WRITTEN } from './journal/notes.js'
export type { AllocatorListener } from './listener.js'
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
export type { AssignedLocation, AssignedPort, Assignment, PromisedLatency } from './records/assignment.js'
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
export { LARGEST_ENVIRONMENT_BYTES } from './records/env-limits.js'
export { networkOf, type Attributes, type Player } from './records/player.js'
export { ACTIVITIES, type Activity, type ReturnReason, type ServerFailure, type StopReason } from './records/reasons.js'
export { matchmakerTag } from './records/tags.js'
export { MatchTooLarge } from './request-size.js'
export { createNewestFirst } from './watching/newest-first.js'
export { createWebhookDoor, noSuchWebhook, type WebhookDoorOptions } from './webhook-door.js'
