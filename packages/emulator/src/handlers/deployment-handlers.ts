import type { api, Deployment, DeploymentTag } from '@muster/core/api'
import type { ContainerLogStorage, Coordinates, DeployLegacy, DeploymentUser } from '@muster/core/internal'
import {
  containerLogs,
  metricsOf,
  understand,
  type DeploymentRecord,
  statusAt,
  type TagRecord,
  type Listed,
  listEntry,
  readListed,
  NO_SERVER,
  bulkFilter,
  isProblem,
  placeFilter,
  isEnding,
  coordinatesOf,
} from '../deployments/index.js'
import { newAt, type VersionRecord } from '../records.js'
import { datesOf } from '../timestamps.js'
import type { World } from '../world.js'
import {
  fail,
  type Failure,
  type Handler,
  type HandlersOf,
  noContent,
  ok,
  onePage,
  paged,
  type Success,
} from './handler.js'
import { findApplication, findDeployable, findDeployment, isFailure, unknown, ifFound } from './lookup.js'

/**
 * The names of the strategies are public facts. It is not known what `weighted` weighs, so both choose the nearest
 * location here.
 */
const strategies: readonly string[] = ['basic', 'weighted']

/**
 * Deploys by names. The specification does not say when its errors occur, so that is our choice. 400: unknown or
 * invalid values. 409: the version cannot be deployed, because it is inactive or its application has no version. 422:
 * no server is free.
 */
const deployLegacy: Handler<typeof api.deployments.deployLegacy> = async (input, { world, faults }) => {
  const { tags = [], filters = [], ap_sort_strategy = 'basic', container_log_storage } = input
  const version = versionOf(world, input)
  if (isFailure(version)) return version
  const allows = placeFilter(filters)
  if (isProblem(allows)) return fail(400, allows.problem)
  const known = strategies.join(', ')
  if (!strategies.includes(ap_sort_strategy))
    return fail(400, `ap_sort_strategy: must be one of ${known}, not ${JSON.stringify(ap_sort_strategy)}`)
  const storage = container_log_storage?.endpoint_storage
  if (storage !== undefined && !world.storages.has(storage))
    return fail(400, `container_log_storage.endpoint_storage: ${unknown('endpoint storage', storage).body.message}`)

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
    fault: faults?.deployment,
    webhookFault: faults?.webhooks,
  })
  if (faults?.webhooks === 'early') await world.deployments.readyCalled(record)
  if (record.site === undefined) return fail(422, NO_SERVER, { request_id: record.id })
  return ok({
    request_id: record.id,
    request_dns: record.site.fqdn,
    request_app: version.app.name,
    request_version: version.name,
    request_user_count: users.length,
    tags,
    container_log_storage: container_log_storage ?? { enabled: false },
    location: record.site.place.location,
    filters,
    ap_sort_strategy,
  })
}

/**
 * Returns the named version. Without a name, returns the version that was created last (service-api, Legacy deploy).
 */
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

/**
 * Lists deployments as they were `listLagMs` milliseconds ago. Terminated ones are omitted, and the newest is first
 * unless the query states an order (both our choice).
 */
const listDeployments: Handler<typeof api.deployments.list> = ({ query = {}, ...wanted }, { world }) => {
  const { listLagMs, rejectRepeatedFilters } = world.deploymentSettings
  const listing = understand(query, readListed, { rejectRepeated: rejectRepeatedFilters })
  if (isProblem(listing)) return fail(400, listing.problem)
  const asOf = world.clock.now() - listLagMs
  const matches: Listed[] = []
  for (const record of world.deployments.all().toReversed()) {
    const status = statusAt(record, asOf)
    if (status === undefined || status === 'TERMINATED') continue
    const listed = { record, status }
    if (listing.keeps(listed)) matches.push(listed)
  }
  const ordered = listing.order === undefined ? matches : matches.toSorted(listing.order)
  const { items, total, pagination } = paged(ordered, wanted, world.pageSizes)
  return ok({ data: items.map(listEntry), total_count: total, pagination, message: [] })
}

const whereIs = (user: DeploymentUser, { locate }: World): Coordinates =>
  user.user_type === 'ip_address' ? coordinatesOf(user.user_data.ip_address, locate) : user.user_data

/**
 * Returns a note for the caller about an unknown storage. Such a storage is ignored (service-api, Deployments), and the
 * server is stopped in any case.
 */
function remarkOnStorage(world: World, wanted: ContainerLogStorage | undefined): string {
  if (typeof wanted !== 'string' || world.storages.has(wanted)) return ''
  return `; its logs are not stored: there is no endpoint storage named ${JSON.stringify(wanted)}`
}

/**
 * Stops a deployment. The response is 202 if nothing changes immediately: the deployment is not READY yet, or is
 * already stopping. The latter is our choice, because the specification has 410 only for terminated deployments. The
 * log storage is ignored, because the emulator has no buckets.
 */
function stop(
  world: World,
  record: DeploymentRecord,
  storage: ContainerLogStorage | undefined,
): Success<{ readonly message: string; readonly deployment_summary: Deployment }, 200 | 202> | Failure<410> {
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
  create: async ({ application, version: version_name, ...input }, { world, faults }) => {
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
      fault: faults?.deployment,
      webhookFault: faults?.webhooks,
    })
    if (faults?.webhooks === 'early') await world.deployments.readyCalled(record)
    return record.site === undefined ? fail(422, NO_SERVER, { request_id: record.id }) : ok({ request_id: record.id })
  },

  get: ({ request_id }, { world }) =>
    ifFound(findDeployment(world, request_id, 400), (record) => ok(world.deployments.view(record))),

  stop: ({ request_id, container_log_storage }, { world }) =>
    ifFound(findDeployment(world, request_id, 404), (record) => stop(world, record, container_log_storage)),

  selfStop: ({ request_id, access_point_id, authorization, container_log_storage }, { world }) =>
    ifFound(findDeployment(world, request_id, 404), (record) => {
      if (authorization !== record.deleteToken) return fail(403, 'the token is not the delete token of this deployment')
      if (access_point_id !== record.accessPointId) return fail(404, 'the deployment has no such access point')
      return stop(world, record, container_log_storage)
    }),

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

  /**
   * Returns logs. They are unavailable once the deployment is terminated (service-api, Deployments). In the observed
   * mode they are unavailable once its stop has begun (live fact).
   */
  logs: ({ request_id }, { world }) =>
    ifFound(findDeployment(world, request_id, 404), (record) => {
      const { status } = record.life
      if (status === 'TERMINATED' || (world.as === 'observed' && isEnding(status)))
        return fail(
          404,
          `the logs of the ${status.toLowerCase()} deployment ${JSON.stringify(request_id)} are not available`,
        )
      return ok(containerLogs(record, world.clock.now()))
    }),

  metrics: (input, { world }) =>
    ifFound(findDeployment(world, input.request_id, 404), (record) => {
      const metrics = metricsOf(record, input, world.clock.now())
      return isProblem(metrics) ? fail(422, metrics.problem) : ok(metrics)
    }),

  deployLegacy,
}

const tagView = (tag: TagRecord): DeploymentTag => ({ name: tag.name, ...datesOf(tag) })

const tagTaken = (name: string) => fail(409, `the deployment is already tagged ${JSON.stringify(name)}`)

function findTag(
  world: World,
  { request_id, tag_name }: { readonly request_id: string; readonly tag_name: string },
): { readonly deployment: DeploymentRecord; readonly tag: TagRecord } | Failure<404> {
  return ifFound(findDeployment(world, request_id, 404), (deployment) => {
    const tag = deployment.tags.get(tag_name)
    return tag === undefined ? unknown('tag of this deployment', tag_name) : { deployment, tag }
  })
}

/**
 * The handlers of deployments' tags. A change of tags does not change the variables of a running container
 * (service-api, Deployment tag).
 */
export const tags: HandlersOf<'tags'> = {
  list: ({ request_id }, { world }) =>
    ifFound(findDeployment(world, request_id, 404), (deployment) => {
      const { items, total, pagination } = onePage(deployment.tags.values())
      return ok({ tags: items.map(tagView), count: total, pagination })
    }),

  get: (input, { world }) => ifFound(findTag(world, input), (found) => ok(tagView(found.tag))),

  create: ({ request_id, name }, { world }) =>
    ifFound(findDeployment(world, request_id, 404), (deployment) => {
      const tag: TagRecord = { name, ...newAt(world.clock.now()) }
      return deployment.tags.add(tag) ? ok(tagView(tag)) : tagTaken(name)
    }),

  update: ({ name, ...input }, { world }) =>
    ifFound(findTag(world, input), (found) => {
      const { deployment, tag } = found
      if (!deployment.tags.rename(tag, name)) return tagTaken(name)
      tag.updatedAt = world.clock.now()
      return ok(tagView(tag))
    }),

  delete: (input, { world }) =>
    ifFound(findTag(world, input), (found) => {
      found.deployment.tags.delete(found.tag)
      return noContent()
    }),
}
