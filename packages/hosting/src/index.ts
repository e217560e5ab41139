/**
 * The public API of `@muster/hosting`: a game server for a match, from the intent to deploy it to its confirmed stop.
 */
export type { BrowserAttribute, BrowserDefinition } from './browser/browser-definition.js'
export { StoreCorrupt, StoreLocked, StoreTorn } from './errors.js'
export type { EnrolmentDefinition } from './pools/enrolment.js'
export type {
  CustomDefinition,
  PoolDefinition,
  PoolPlaceDefinition,
  ReuseDefinition,
  ScheduleDefinition,
  WarmDefinition,
} from './pools/pool-definition.js'
export type { MatchOutcome, ResultsDefinition } from './results/result-outbox.js'
export { createHttpAllocator } from './sources/http-allocator.js'
export { createLocalAllocator } from './sources/local/local-allocator.js'
export type { AllocatedServer, ServerAllocator, WantedServer } from './sources/server-allocator.js'
export { openStore, type StoreOptions } from './store/file-store.js'
export {
  createMemoryStore,
  type Store,
  type StoreMemory,
  type StoreOwner,
  type StoreRecord,
  type StoreRecords,
} from './store/store.js'
