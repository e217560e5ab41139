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
  Deployment,
  DeploymentListEntry,
  type DeploymentPort,
  type DeploymentSession,
  type DeploymentStatus,
} from './deployment.js'
export {
  type CreateDeployment,
  type DeploymentCreated,
  type DeploymentUser,
  EnvironmentVariable,
  type UserAtAddress,
  type UserAtCoordinates,
  type Webhook,
} from './create-deployment.js'
export {
  type BulkStop,
  type BulkStopped,
  type ContainerLogStorage,
  type DeploymentId,
  type DeploymentStopped,
  type SelfStopDeployment,
  type StopDeployment,
} from './stop-deployment.js'
export {
  type DeploymentFilter,
  type DeploymentList,
  type DeploymentQuery,
  type ListDeployments,
} from './list-deployments.js'
export { type ContainerLogs } from './container-logs.js'
export { type Metrics, type MetricSeries, type ReadMetrics } from './metrics.js'
export {
  type CreateFleet,
  Fleet,
  FleetLink,
  type FleetList,
  type FleetName,
  type FleetVersionName,
  type UpdateFleet,
} from './fleets.js'
export {
  type CreateFleetPolicy,
  FleetPolicy,
  type FleetPolicyChanges,
  type FleetPolicyList,
  type FleetPolicyName,
  type ListFleetPolicies,
  type UpdateFleetPolicy,
} from './fleet-policies.js'
export { type DeployLegacy, type LegacyDeployed } from './legacy.js'
export { limits } from './limits.js'
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
export { addressKeys, secretFlags, secretKeys } from './secrets.js'
export {
  defaultSettings,
  settingsWith,
  type Settings,
  type SettingsOption,
  type ValueLimitsOption,
} from './settings.js'
export { withValueLimits, type Bounds, type ValueLimits } from './value-limits.js'
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
  type UpdateVersion,
  type VersionChanges,
  type VersionDeleted,
  type VersionList,
  type VersionName,
  type VersionSaved,
} from './versions.js'
export { Version } from './version.js'
export {
  type PortProtocol,
  type SessionConfig,
  type SessionConfigEcho,
  type VersionPort,
  type VersionPortEcho,
  type VersionVariable,
  type VersionVariableEcho,
} from './version-parts.js'
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
