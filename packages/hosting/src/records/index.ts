/** Records of servers and matches, assignments, players, deployment settings and tags. */
export {
  buildOf,
  ENROLLED,
  type Enrolled,
  type FoundMatch,
  type FoundTicket,
  type MatchIntent,
  type MatchResumption,
  type Order,
  type Placement,
  type PlacementAttempt,
  type PlayerWhoLeft,
  type ServerIntent,
  type ServerResumption,
} from './order.js'
export {
  type FoundBy,
  HostedMatch,
  isEnrolled,
  newEnrolledServer,
  newPoolServer,
  newServerFor,
  placementOf,
  Server,
  type ServerPhase,
} from './server.js'
export {
  type AllocationView,
  leftAfter,
  matchIntent,
  matchViewOf,
  MOST_LEFT,
  matchEndEntries,
  playersEntry,
  poolServerViewOf,
  resumptionOfServer,
  serverIntent,
} from './views.js'
export {
  type Activity,
  type AssignedLocation,
  type Assignment,
  assignmentAt,
  assignmentOf,
  type DrainReason,
  locationAt,
  type ReturnReason,
  type ServerFailure,
  type StopReason,
} from './assignment.js'
export { type Deploy, type DeployDefinition, deploySchema, type PortProbe } from './deploy.js'
export type { Attributes, Player } from './player.js'
export {
  hasTag,
  LARGEST_ENVIRONMENT_BYTES,
  LONGEST_VALUE_BYTES,
  matchmakerTag,
  possibleServerIdsOf,
  serverTag,
  serverIdsOf,
  tagOfCredential,
  taggedWith,
} from './tags.js'
export { NO_REPORTS, RegisteredServer, type ReportedMatch } from './registered-server.js'
export {
  type EnrolmentRequest,
  type ListingReport,
  type MatchReport,
  type MatchResult,
  MOST_IN_ALL,
  MOST_PLAYERS,
  type SeatsWanted,
  type ServerRegistration,
  type ServerReport,
  ShownName,
} from './server-reports.js'
