import type { api, Coordinates, DeployLegacy } from '@muster/core/api'
import { placeFilter } from '../deployments/place-filter.js'
import { isProblem } from '../deployments/problem.js'
import { NO_SERVER } from '../deployments/record-maker.js'
import { coordinatesOf } from '../deployments/user-coordinates.js'
import type { VersionRecord } from '../records.js'
import type { World } from '../world.js'
import { findDeployable } from './find-deployment.js'
import { fail, ok, type Failure, type Handler } from './handler.js'
import { findApplication, isFailure } from './lookup.js'

/** The strategies' names are public facts. What `weighted` weighs is not known; here both choose the nearest place. */
const strategies: readonly string[] = ['basic', 'weighted']

/**
 * Deploys by names. The document does not say when its errors occur. Here (our choice): 400 for unknown or invalid
 * values, 409 for a version that cannot be deployed (inactive, or its application has no version), 422 when no server
 * is free.
 */
export const deployLegacy: Handler<typeof api.deployments.deployLegacy> = async (
  input,
  { world, deploymentFault, webhookFault },
) => {
  const { tags = [], filters = [], ap_sort_strategy = 'basic', container_log_storage = { enabled: false } } = input
  const version = versionOf(world, input)
  if (isFailure(version)) return version
  const allows = placeFilter(filters)
  if (isProblem(allows)) return fail(400, allows.problem)
  if (!strategies.includes(ap_sort_strategy)) {
    return fail(
      400,
      `ap_sort_strategy: must be one of ${strategies.join(', ')}, not ${JSON.stringify(ap_sort_strategy)}`,
    )
  }
  const storage = container_log_storage.endpoint_storage
  if (storage !== undefined && !world.storages.has(storage)) {
    return fail(
      400,
      `container_log_storage.endpoint_storage: there is no endpoint storage named ${JSON.stringify(storage)}`,
    )
  }

  const users = whereUsersAre(input, world)
  const record = world.deployments.create({
    version,
    users: input.location === undefined ? users : [input.location],
    allows,
    variables: input.env_vars,
    tags,
    webhooks: { ready: input.webhook_url },
    skipTelemetry: input.skip_telemetry,
    command: input.command,
    arguments: input.arguments,
    fault: deploymentFault,
    webhookFault,
  })
  if (webhookFault === 'early') await world.deployments.readyCalled(record)
  if (record.site === undefined) return fail(422, NO_SERVER, { request_id: record.id })
  return ok({
    request_id: record.id,
    request_dns: record.site.fqdn,
    request_app: version.app.name,
    request_version: version.name,
    request_user_count: users.length,
    tags,
    container_log_storage,
    location: record.site.place.location,
    filters,
    ap_sort_strategy,
  })
}

/** The named version; without a name, the version created last (service-api, Legacy deploy). */
function versionOf(world: World, { app_name, version_name }: DeployLegacy): VersionRecord | Failure<400 | 409> {
  if (version_name !== undefined) return findDeployable(world, { app_name, version_name }, 409)
  const app = findApplication(world, app_name)
  if (isFailure(app)) return fail(400, app.body.message)
  const last = app.versions.values().at(-1)
  if (last === undefined) return fail(409, `application ${JSON.stringify(app_name)} has no version`)
  return findDeployable(world, { app_name, version_name: last.name }, 409)
}

const whereUsersAre = ({ ip_list = [], geo_ip_list = [] }: DeployLegacy, { locate }: World): readonly Coordinates[] => [
  ...geo_ip_list.map(({ latitude, longitude }) => ({ latitude, longitude })),
  ...ip_list.map((ip) => coordinatesOf(ip, locate)),
]
