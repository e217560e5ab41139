import { operation } from '../operation.js'
import { ContainerLogs } from './container-logs.js'
import { CreateDeployment, DeploymentCreated } from './create-deployment.js'
import { Deployment } from './deployment.js'
import { limits } from './limits.js'
import { DeploymentList, ListDeployments } from './list-deployments.js'
import { Metrics, ReadMetrics } from './metrics.js'
import {
  BulkStop,
  BulkStopped,
  DeploymentId,
  DeploymentStopped,
  SelfStopDeployment,
  StopDeployment,
} from './stop-deployment.js'

export const deployments = {
  /**
   * Deploy a server of an application version near the users.
   * Route: `POST /deployments`.
   * Limit: 40 per second. Errors: `NoCapacity` (422).
   * `NoCapacity` with a `requestId` names a deployment in error that may cost money: stop it. There is no idempotency
   * key: a create whose answer was lost is not repeated, and its server is found by its tags.
   * Source: service-api, Deployments; errors by public fact, required fields by public fact.
   */
  create: operation('POST /deployments', {
    summary: 'Deploy a server of an application version near the users',
    input: CreateDeployment,
    output: DeploymentCreated,
    success: [202],
    errors: [400, 401, 422, 500],
    limit: limits.createDeployment,
    open: { path: 'createDeploymentPath' },
  }),
  /**
   * Read the status of a deployment.
   * Route: `GET /v1/status/{request_id}`.
   * Limit: 20 per second. Errors: those of every call.
   * An unknown deployment is `NotFound`, although the service answers 400 (public fact).
   * Source: service-api, Deployments.
   */
  get: operation('GET /v1/status/{request_id}', {
    summary: 'Read the status of a deployment',
    input: DeploymentId,
    output: Deployment,
    errors: [400, 401, 500],
    limit: limits.status,
  }),
  /**
   * Stop a deployment: at once when READY or ERROR (200), else as soon as it is (202).
   * Route: `DELETE /v1/stop/{request_id}`.
   * Limit: none documented. Errors: `Forbidden` (403), `NotFound` (404), `AlreadyTerminated` (410).
   * `AlreadyTerminated` means that it is stopped already. 202: it stops once it is READY or in error.
   * Source: service-api, Deployments; errors by public fact.
   */
  stop: operation('DELETE /v1/stop/{request_id}', {
    summary: 'Stop a deployment: at once when READY or ERROR (200), else as soon as it is (202)',
    input: StopDeployment,
    output: DeploymentStopped,
    success: [200, 202],
    errors: [400, 401, 403, 404, 410, 500],
    open: { container_log_storage: 'containerLogStorageParameter' },
  }),
  /**
   * Stop the deployment from inside its container, with its own delete token.
   * Route: `DELETE /v1/self/stop/{request_id}/{access_point_id}`.
   * Limit: none documented. Errors: `Forbidden` (403), `NotFound` (404), `AlreadyTerminated` (410).
   * `AlreadyTerminated` means that it is stopped already. In a container use `selfStop()`, which needs no client.
   * Source: service-api, Deployments; errors by public fact.
   */
  selfStop: operation('DELETE /v1/self/stop/{request_id}/{access_point_id}', {
    summary: 'Stop the deployment from inside its container, with its own delete token',
    input: SelfStopDeployment,
    output: DeploymentStopped,
    success: [200, 202],
    errors: [400, 401, 403, 404, 410, 500],
    auth: 'delete-token',
    headers: { authorization: 'authorization' },
    open: { container_log_storage: 'containerLogStorageParameter' },
  }),
  /**
   * Stop every deployment that matches the filters.
   * Route: `POST /v1/deployments/bulk-stop`.
   * Limit: none documented. Errors: those of every call.
   * Permanent. Only a list with the same filters shows beforehand what would match.
   * Source: service-api, Deployments; required fields by our choice.
   */
  bulkStop: operation('POST /v1/deployments/bulk-stop', {
    summary: 'Stop every deployment that matches the filters',
    input: BulkStop,
    output: BulkStopped,
    success: [202],
    errors: [400, 401, 500],
  }),
  /**
   * List deployments by filter and order.
   * Route: `GET /v1/deployments`.
   * Limit: 10 per second. Errors: those of every call.
   * Pages are small whatever is asked for: `.all()` follows them.
   * Source: service-api, Deployments.
   */
  list: operation('GET /v1/deployments', {
    summary: 'List deployments by filter and order',
    input: ListDeployments,
    output: DeploymentList,
    errors: [400, 401, 500],
    limit: limits.listDeployments,
    items: 'data',
    open: { query: 'deploymentQueryParameter' },
  }),
  /**
   * Read a running deployment's container logs.
   * Route: `GET /v1/deployment/{request_id}/container-logs`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Only while the deployment lives.
   * Source: service-api, Deployments.
   */
  logs: operation('GET /v1/deployment/{request_id}/container-logs', {
    summary: "Read a running deployment's container logs",
    input: DeploymentId,
    output: ContainerLogs,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Read a deployment's metrics.
   * Route: `GET /v1/metrics/deployment/{request_id}`.
   * Limit: none documented. Errors: `NotFound` (404), `InvalidInput` (422).
   * Source: service-api, Deployments.
   */
  metrics: operation('GET /v1/metrics/deployment/{request_id}', {
    summary: "Read a deployment's metrics",
    input: ReadMetrics,
    output: Metrics,
    errors: [400, 401, 404, 422, 500],
  }),
} as const
