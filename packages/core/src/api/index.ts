/** What `@muster/core/api` offers: the description of the service as data, for whoever makes something else from it. */
export { api, operations, type Api, type OperationId } from './api.js'
export {
  Application,
  ApplicationList,
  type ApplicationName,
  type CreateApplication,
  type UpdateApplication,
} from './applications.js'
export {
  Deployment,
  DeploymentListEntry,
  type DeploymentPort,
  type DeploymentSession,
  type DeploymentStatus,
} from './deployment.js'
export {
  type BulkStop,
  type BulkStopped,
  type ContainerLogs,
  type ContainerLogStorage,
  type CreateDeployment,
  type DeploymentCreated,
  type DeploymentFilter,
  type DeploymentId,
  type DeploymentList,
  type DeploymentQuery,
  type DeploymentStopped,
  type DeploymentUser,
  EnvironmentVariable,
  type ListDeployments,
  type Metrics,
  type MetricSeries,
  type ReadMetrics,
  type SelfStopDeployment,
  type StopDeployment,
  type Webhook,
} from './deployments.js'
export {
  type CreateFleet,
  type CreateFleetPolicy,
  Fleet,
  FleetLink,
  type FleetList,
  type FleetName,
  FleetPolicy,
  type FleetPolicyChanges,
  type FleetPolicyList,
  type FleetPolicyName,
  type FleetVersionName,
  type ListFleetPolicies,
  type UpdateFleet,
  type UpdateFleetPolicy,
} from './fleets.js'
export { type DeployLegacy, type LegacyDeployed } from './legacy.js'
export { limits } from './limits.js'
export { Beacon, type BeaconList, type ListLocations, Location, type LocationList } from './locations.js'
export {
  type ImageName,
  type ImageTag,
  RegistryArtifact,
  RegistryTag,
  type RegistryTagDeleted,
  type RegistryTagList,
} from './registry.js'
export {
  type AuthorizeRelayUser,
  type CreateRelaySession,
  type Relay,
  type RelayPort,
  RelaySession,
  type RelaySessionId,
  type RelaySessionList,
  RelaySessionOfUser,
  RelayUser,
  type RevokeRelayUser,
} from './relays.js'
export { addressKeys, secretFlags, secretKeys } from './secrets.js'
export { defaultSettings, type Settings } from './settings.js'
export {
  type CreateEndpointStorage,
  type CreatePullProfile,
  type EndpointName,
  EndpointStorage,
  type EndpointStorageChanges,
  type EndpointStorageList,
  type ListEndpointStorages,
  type ListPullProfiles,
  PullProfile,
  PullProfileLink,
  type PullProfileLinkName,
  type PullProfileList,
  type PullProfileName,
  type UpdateEndpointStorage,
  type UpdatePullProfile,
} from './storage.js'
export {
  type CreateDeploymentTag,
  DeploymentTag,
  type DeploymentTagList,
  type DeploymentTagName,
  type RenameDeploymentTag,
  type TaggedDeployment,
} from './tags.js'
export {
  type CreateVersion,
  type PortProtocol,
  type SessionConfig,
  type UpdateVersion,
  Version,
  type VersionChanges,
  type VersionDeleted,
  type VersionList,
  type VersionName,
  type VersionPort,
  type VersionSaved,
  type VersionVariable,
} from './versions.js'
export {
  type Filter,
  type FilterEcho,
  type Masked,
  type Maybe,
  type Message,
  type NumberOrString,
  type PageInput,
  type Pagination,
  type TimestampA,
  type TimestampB,
} from './fields.js'
export {
  operation,
  type ErrorsOf,
  type InputOf,
  type Method,
  type Operation,
  type OutputOf,
  type RateLimit,
  type SuccessOf,
} from '../operation.js'
