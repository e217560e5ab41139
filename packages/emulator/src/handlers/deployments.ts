import type { ContainerLogStorage, Coordinates, Deployment, DeploymentUser } from '@muster/core/api'
import { bulkFilter } from '../deployments/bulk-filter.js'
import { containerLogs } from '../deployments/container-logs.js'
import type { DeploymentRecord } from '../deployments/deployment-record.js'
import { isEnding } from '../deployments/lifecycle.js'
import { metricsOf } from '../deployments/metrics.js'
import { isProblem } from '../deployments/problem.js'
import { NO_SERVER } from '../deployments/record-maker.js'
import { coordinatesOf } from '../deployments/user-coordinates.js'
import type { World } from '../world.js'
import { findDeployable, findDeployment } from './find-deployment.js'
import { fail, ok, type Failure, type HandlersOf, type Success } from './handler.js'
import { deployLegacy } from './legacy-deploy.js'
import { listDeployments } from './list-deployments.js'
import { isFailure } from './lookup.js'

const whereIs = (user: DeploymentUser, { locate }: World): Coordinates =>
  user.user_type === 'ip_address' ? coordinatesOf(user.user_data.ip_address, locate) : user.user_data

/**
 * A note for the caller about an unknown storage. The storage is then not used (service-api, Deployments), but the
 * server is stopped all the same.
 */
function remarkOnStorage(world: World, wanted: ContainerLogStorage | undefined): string {
  if (typeof wanted !== 'string' || world.storages.has(wanted)) return ''
  return `; its logs are not stored: there is no endpoint storage named ${JSON.stringify(wanted)}`
}

interface Stopped {
  readonly message: string
  readonly deployment_summary: Deployment
}

/**
 * Stops a deployment. Answers 202 where nothing changes at once: the deployment is not yet READY, or is stopping
 * already (our choice; the document has 410 only for terminated deployments). The log storage is ignored, because the
 * emulator has no buckets.
 */
function stop(
  world: World,
  record: DeploymentRecord,
  storage: ContainerLogStorage | undefined,
): Success<Stopped, 200 | 202> | Failure<410> {
  const outcome = world.deployments.stop(record)
  if (outcome === 'terminated already') return fail(410, 'Instance Already terminated')
  const deployment_summary = world.deployments.view(record)
  const message = `${stopMessages[outcome]}${remarkOnStorage(world, storage)}`
  return ok(outcome === 'stopped' ? 200 : 202, { message, deployment_summary })
}

const stopMessages = {
  stopped: 'the deployment is being stopped',
  deferred: 'the deployment will be stopped once it is READY or in ERROR',
  'stopping already': 'the deployment is being stopped already',
}

export const deployments: HandlersOf<'deployments'> = {
  create: async ({ application, version: version_name, ...input }, { world, deploymentFault, webhookFault }) => {
    const version = findDeployable(world, { app_name: application, version_name }, 400)
    if (isFailure(version)) return version
    const record = world.deployments.create({
      version,
      users: input.users.map((user) => whereIs(user, world)),
      cachedOnly: input.require_cached_locations,
      variables: input.environment_variables,
      tags: input.tags,
      webhooks: {
        ready: input.webhook_on_ready?.url,
        error: input.webhook_on_error?.url,
        terminated: input.webhook_on_terminated?.url,
      },
      fault: deploymentFault,
      webhookFault,
    })
    if (webhookFault === 'early') await world.deployments.readyCalled(record)
    return record.site === undefined ? fail(422, NO_SERVER, { request_id: record.id }) : ok({ request_id: record.id })
  },

  get: ({ request_id }, { world }) => {
    const record = findDeployment(world, request_id, 400)
    return isFailure(record) ? record : ok(world.deployments.view(record))
  },

  stop: ({ request_id, container_log_storage }, { world }) => {
    const record = findDeployment(world, request_id, 404)
    return isFailure(record) ? record : stop(world, record, container_log_storage)
  },

  selfStop: ({ request_id, access_point_id, authorization, container_log_storage }, { world }) => {
    const record = findDeployment(world, request_id, 404)
    if (isFailure(record)) return record
    if (authorization !== record.deleteToken) return fail(403, 'the token is not the delete token of this deployment')
    if (access_point_id !== record.accessPointId) return fail(404, 'the deployment has no such access point')
    return stop(world, record, container_log_storage)
  },

  bulkStop: ({ filters }, { world }) => {
    const isMeant = bulkFilter(filters)
    if (isProblem(isMeant)) return fail(400, isMeant.problem)
    const meant = world.deployments
      .all()
      .filter(({ life }) => !isEnding(life.status))
      .filter(({ id, tags }) => isMeant({ requestId: id, tags: tags.values().map(({ name }) => name) }))
    for (const record of meant) world.deployments.stop(record)
    return ok({ processable: meant.map(({ id }) => ({ request_id: id })) })
  },

  list: listDeployments,

  /** Logs are unavailable once the deployment is terminated (service-api, Deployments). */
  logs: ({ request_id }, { world }) => {
    const record = findDeployment(world, request_id, 404)
    if (isFailure(record)) return record
    if (record.life.status === 'TERMINATED')
      return fail(404, `the logs of the terminated deployment ${JSON.stringify(request_id)} are not available`)
    return ok(containerLogs(record, world.clock.now()))
  },

  metrics: (input, { world }) => {
    const record = findDeployment(world, input.request_id, 404)
    if (isFailure(record)) return record
    const metrics = metricsOf(record, input, world.clock.now())
    return isProblem(metrics) ? fail(422, metrics.problem) : ok(metrics)
  },

  deployLegacy,
}
