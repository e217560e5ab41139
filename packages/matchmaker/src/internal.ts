/** Exports for the other packages of this repository. They may change without notice. */
export { createMatchmakerOver } from './create-matchmaker.js'
export {
  type OperatorAction,
  type LocalCommandName,
  createAuditedCommands,
  LEADER_COMMANDS,
  type LeaderCommandName,
  type OperatorCommandName,
} from './commands.js'
export { configure, defaultOptions, definePools, defineQueues, type JoinTokenOptions, sourceName } from './options.js'
export { isEndOfMatch, onMatchEnd } from './events.js'
export { describePool, poolCost, type PoolLoad, poolCostSentence } from './queues/describe-pool.js'
export { createLeaderWaits, createStoredKind, type LeaderWaits, type StoredKind } from './partition/follower-waits.js'
export { createLeader, type Leader, mapSources } from './partition/leader.js'
export type { ServerAllocator } from '@muster/hosting'
export { type CompiledQueue, compileQueue } from './queues/compile.js'
export { attributesComparedBy } from './queues/queue.js'
export { similarConstants } from './queues/similar-values.js'
export type { RelaxingLimit, TimedLimit } from './queues/rule-parts/relaxing.js'
export type { WaitOf } from './queues/rule-parts/rule-base.js'
export { limitFieldsOf, ruleNameOf } from './queues/rules/definition.js'
export {
  createPlayerRecorder,
  playerOf,
  readLine,
  recordedLines,
  type RecordedLine,
  type RecordedTicket,
} from './replay/recording-lines.js'
export { createStubService } from './replay/stub-service.js'
export { privateSeatOf, storedTicket, type StoredTicket } from './tickets/checked-ticket.js'
export {
  type CheckedNewTicket,
  createTicketChecker,
  type OtherTicket,
  type TicketChecker,
} from './tickets/ticket-checker.js'
export { assertPlayerOfTicket, readTicketInput } from './tickets/ticket-input.js'
export { isSettled } from './tickets/ticket.js'
export { EMPTY_INSPECTION } from './matches/inspection.js'
export { createJoinTokens } from './matches/server-commands.js'
export { createPool, type Grouped, type Matches, type Pool, type Round, type RoundOptions, STEP } from '@muster/kernel'
export {
  type AllocationView,
  afterEntries,
  type Browser,
  browserSchema,
  createServerReader,
  type ListChanges,
  type ListedServer,
  type PageChange,
  type ReadQuery,
  readQuery,
  matchmakerTag,
  createMemoryServerLog,
  createServerKeys,
  type HttpAllocator,
  createWebhookEndpoint,
  findStoreFiles,
  type StoreFileFound,
  type ServerLog,
  type HostingEntry,
  type HostingRecord,
  networkOf,
  poolSchema,
  poolSchemaWith,
  noSuchWebhook,
  webhookTokenIn,
  ENROLLED,
  lossShare,
  EnrolmentBody,
  RegistrationBody,
  ReportBody,
  type Pool as ServerPool,
  fleetOf,
  keyOf,
  type MatchRecord,
  type ServerRecord,
  putChanged,
  splitRecordOf3,
  type StoredFleet,
  TicketsGone,
} from '@muster/hosting/internal'
export type { BackendAct } from './http-api/api-options.js'
export { ENDED_GROUP_MS, longestGapMs } from './http-api/group-store.js'
export { createHttpAllocator, createLocalAllocator } from '@muster/hosting'
