/**
 * The exports of `@muster/core/api`: the description of the service as data, for building other tools.
 *
 * Docstrings name the source of each fact. `service-api` is the specification of the service. A `public fact` comes
 * from public documents of a service with the same interface. A `live fact` comes from what a running service publishes
 * about itself where the specification is silent or differs. `Our choice` is a decision of Muster.
 */
export { api, operations, type Api, type OperationId } from './api.js'
export { Application, type CreateApplication, type UpdateApplication } from './applications.js'
export {
  Deployment,
  type DeploymentId,
  DeploymentListEntry,
  type DeploymentPort,
  type DeploymentStatus,
  type DeploymentStopped,
} from './deployment.js'
export {
  type ContainerLogs,
  type CreateDeployment,
  type DeploymentCreated,
  type DeploymentFilter,
  type DeploymentList,
  EnvironmentVariable,
  type ListDeployments,
} from './deployments.js'
export { type Metrics, type MetricSeries, metricValues } from './metrics.js'
export { type CreateFleet, Fleet, FleetPolicy, type UpdateFleet } from './fleets.js'
export { limits } from './documented-limits.js'
export { Beacon, type ListedLocation, Location, type LocationList } from './locations.js'
export { RegistryTag } from './registry.js'
export { type CreateRelaySession, RelaySession, RelaySessionOfUser, RelayUser } from './relays.js'
export { defaultSettings, type Settings, type SettingsOption } from './settings.js'
export { EndpointStorage } from './storages.js'
export { PullProfile } from './pull-profiles.js'
export { DeploymentTag } from './tags.js'
export { type CreateVersion, type UpdateVersion, Version } from './versions.js'
export type { Filter, Masked, Pagination } from './fields.js'
export {
  operation,
  type InputOf,
  type Method,
  type Operation,
  type OutputOf,
  type RateLimit,
  type SuccessOf,
} from '../operation.js'
