import { operation } from '../operation.js'
import { ContainerLogs } from './container-logs.js'
import { CreateDeployment, DeploymentCreated } from './create-deployment.js'
import { Deployment } from './deployment.js'
import { limits } from './limits.js'
import { DeploymentList, ListDeployments } from './list-deployments.js'
import { Metrics, ReadMetrics } from './metrics.js'
import { BulkStop, BulkStopped, DeploymentId, DeploymentStopped, SelfStopDeployment, StopDeployment } from './stop-deployment.js'

export const deployments = {
  create: operation('POST /deployments', {
    summary: 'Deploy a server of an application version near the users',
    input: CreateDeployment,
    output: DeploymentCreated,
    success: [202],
    errors: [400, 401, 422, 500],
    limit: limits.createDeployment,
    open: { path: 'createDeploymentPath' },
  }),
  get: operation('GET /v1/status/{request_id}', {
    summary: 'Read the status of a deployment',
    input: DeploymentId,
    output: Deployment,
    errors: [400, 401, 500],
    limit: limits.status,
  }),
  stop: operation('DELETE /v1/stop/{request_id}', {
    summary: 'Stop a deployment: at once when READY or ERROR (200), else as soon as it is (202)',
    input: StopDeployment,
    output: DeploymentStopped,
    success: [200, 202],
    errors: [400, 401, 403, 404, 410, 500],
    open: { container_log_storage: 'containerLogStorageParameter' },
  }),
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
  bulkStop: operation('POST /v1/deployments/bulk-stop', {
    summary: 'Stop every deployment that matches the filters',
    input: BulkStop,
    output: BulkStopped,
    success: [202],
    errors: [400, 401, 500],
  }),
  list: operation('GET /v1/deployments', {
    summary: 'List deployments by filter and order',
    input: ListDeployments,
    output: DeploymentList,
    errors: [400, 401, 500],
    limit: limits.listDeployments,
    items: 'data',
    open: { query: 'deploymentQueryParameter' },
  }),
  logs: operation('GET /v1/deployment/{request_id}/container-logs', {
    summary: "Read a running deployment's container logs",
    input: DeploymentId,
    output: ContainerLogs,
    errors: [400, 401, 404, 500],
  }),
  metrics: operation('GET /v1/metrics/deployment/{request_id}', {
    summary: "Read a deployment's metrics",
    input: ReadMetrics,
    output: Metrics,
    errors: [400, 401, 404, 422, 500],
  }),
} as const
