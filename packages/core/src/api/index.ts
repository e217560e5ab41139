/** What `@muster/core/api` offers: the description of the service as data, for whoever makes something else from it. */
export { api, operations, type Api, type OperationId } from './api.js'
export {
  Application,
  ApplicationList,
  type ApplicationChanges,
  type ApplicationName,
  type CreateApplication,
  type UpdateApplication,
} from './applications.js'
export {
  type BulkStop,
  type BulkStopped,
  type ContainerLogStorage,
  Deployment,
  type DeploymentId,
  DeploymentListEntry,
  type DeploymentPort,
  type DeploymentSession,
  type DeploymentStatus,
  type DeploymentStopped,
  type SelfStopDeployment,
  type StopDeployment,
} from './deployment.js'
export {
  type ContainerLogs,
  type CreateDeployment,
  type DeploymentCreated,
  type DeploymentFilter,
  type DeploymentList,
  type DeploymentQuery,
  type DeploymentUser,
  EnvironmentVariable,
  type ListDeployments,
  type UserAtAddress,
  type UserAtCoordinates,
  type Webhook,
} from './deployments.js'
export { type Metrics, type MetricSeries, type ReadMetrics } from './metrics.js'
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
export {
  addressKeys,
  type Bounds,
  limits,
  secretFlags,
  secretKeys,
  type ValueLimits,
  withValueLimits,
} from './limits.js'
export {
  Beacon,
  type BeaconList,
  type ListedLocation,
  type ListLocations,
  Location,
  type LocationList,
} from './locations.js'
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
export {
  defaultSettings,
  settingsWith,
  type Settings,
  type SettingsOption,
  type ValueLimitsOption,
} from './settings.js'
export {
  type CreateEndpointStorage,
  type EndpointName,
  EndpointStorage,
  type EndpointStorageChanges,
  type EndpointStorageList,
  type ListEndpointStorages,
  type UpdateEndpointStorage,
} from './storages.js'
export {
  type CreatePullProfile,
  type ListPullProfiles,
  PullProfile,
  PullProfileLink,
  type PullProfileLinkName,
  type PullProfileList,
  type PullProfileName,
  type UpdatePullProfile,
} from './pull-profiles.js'
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
  type SessionConfigEcho,
  type UpdateVersion,
  Version,
  type VersionChanges,
  type VersionDeleted,
  type VersionList,
  type VersionName,
  type VersionPort,
  type VersionPortEcho,
  type VersionSaved,
  type VersionVariable,
  type VersionVariableEcho,
} from './versions.js'
export {
  type Filter,
  type FilterEcho,
  type Masked,
  type Maybe,
  type Message,
  type NoInput,
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
export { pathOf, wireName, type WireName } from '../wire.js'
export { greatCircleKm, isLatitude, isLongitude, type Coordinates } from '../geo.js'
export { addressPrefix, canonicalIp, isPublicIp } from '../ip.js'
export { createPathMatcher, type PathMatch, type PathMatcher } from '../path-matcher.js'
