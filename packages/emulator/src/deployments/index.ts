/** Deployments of the emulated service: where they are placed, how they live and end, and how they are shown. */
export { containerLogs, metricsOf } from './container-telemetry.js'
export { understand } from './deployment-query.js'
export { type DeploymentRecord, statusAt, type TagRecord } from './deployment-record.js'
export { type Listed, listEntry, readListed, tagsOf } from './deployment-views.js'
export { createDeployments, type Deployments, NO_SERVER } from './deployments.js'
export {
  defaultGameServerSettings,
  type GameServerSettings,
  simulatedGameServers,
} from './simulated-game-servers.js'
export { bulkFilter, isProblem, placeFilter, policyPlaces } from './filters.js'
export type { Launch } from './launch-process.js'
export { defaultDeployTimes, type DeploymentFault, type DeployTimes, isEnding, type StatusName } from './lifecycle.js'
export { coordinatesOf, createPortPool, type Locate, nearest } from './placement.js'
export { createWebhooks, sendDespite, type WebhookFault, type Webhooks } from './webhooks.js'
