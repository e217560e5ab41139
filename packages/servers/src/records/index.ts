/** Plain data of servers: allocations, assignments, players, deploy definitions and tags. */
export {
  type Allocation,
  type AllocationPhase,
  buildOf,
  type FoundBy,
  type FoundMatch,
  type FoundTicket,
  inheritedAllocation,
  isHosted,
  leftAfter,
  MOST_LEFT,
  type Intent,
  intentEntry,
  newAllocation,
  newPoolServer,
  NOBODY,
  type Order,
  type Placement,
  type PlacementAttempt,
  placementOf,
  playersEntry,
  type PlayerWhoLeft,
  type Resumption,
  resumptionOf,
} from './allocation.js'
export {
  type Activity,
  type AssignedLocation,
  type AssignedPort,
  type Assignment,
  assignmentOf,
  type ReturnReason,
  type ServerFailure,
  type StopReason,
} from './assignment.js'
export { type Deploy, type DeployDefinition, deploySchema, type PortProbe } from './deploy.js'
export type { Attributes, Player } from './player.js'
export {
  credentialOf,
  hasTag,
  LARGEST_ENVIRONMENT_BYTES,
  LONGEST_VALUE_BYTES,
  matchIdsOf,
  matchTag,
  serverIdsOf,
  tagOfCredential,
  taggedWith,
} from './tags.js'
