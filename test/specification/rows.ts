import { type groupSizes, resources, type Shape } from './tables.js'

/** Returns fields of a resource, by name, for a body. */
const fields = (resource: keyof typeof resources, ...keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key, resources[resource][key] as Shape]))

const application = fields('Application', 'name', 'is_active', 'is_telemetry_agent_active', 'image')

const versionChanges = fields(
  'Version',
  ...(
    'name is_active docker_repository docker_image docker_tag private_username private_token ' +
    'max_duration force_cache time_to_deploy session_config ports envs verify_image ' +
    'termination_grace_period_seconds endpoint_storage command arguments dns_config ' +
    'will_deploy_in_mainland_china'
  ).split(' '),
)
const version = { ...versionChanges, ...fields('Version', 'req_cpu', 'req_memory', 'req_video') }
const versionSaved = { success: 'boolean', version: 'Version' } as const

const storage = {
  ...fields('EndpointStorage', 'name', 'container_log_version', 'access_key_id', 'endpoint', 'bucket', 'output_format'),
  secret_access_key: 'string',
} as const
const pullProfile = fields('PullProfile', 'name', 'source', 'source_type', 'destination')
const policy = fields('FleetPolicy', 'name', 'enabled', 'type', 'minimum', 'maximum', 'threshold', 'data')

const page = { page: 'integer', limit: 'integer' } as const
const variables = [{ key: 'string', value: 'string', is_hidden: 'boolean' }] as const
const webhook = { url: 'string' } as const
const message = { message: 'string' } as const
const stopped = { message: 'string', deployment_summary: 'Deployment' } as const
/** `true`, `false` or the name of a storage. */
const logStorage = { container_log_storage: 'anything' } as const

const app = '/v1/app/{app_name}'
const ofVersion = `${app}/version/{version_name}`
const image = '/v1/container-registry/images/{image_name}/tags'
const endpoint = '/v1/storage/endpoint/{endpoint_name}'
const profile = `${endpoint}/pull-profile/{pull_profile_name}`
const fleet = '/v1/fleet/{fleet_name}'
const tags = '/v1/deployments/{request_id}/tags'
const relays = '/v1/relays/sessions'

/** One row of a table in 'Endpoints'. */
export interface Row {
  readonly group: keyof typeof groupSizes
  /** Method and path. */
  readonly route: string
  /** Query, header and body keys with their types; those of the path are in the route. */
  readonly request: { readonly [key: string]: Shape }
  /** The required keys. */
  readonly required: readonly string[]
  /** Source of `required`, if the document does not state it. */
  readonly requiredBy?: 'public fact' | 'our choice'
  /** Undefined for a response without content. */
  readonly response: Shape | undefined
  readonly success: readonly number[]
  readonly errors: readonly number[]
  /** Source of errors that the document states without a code, or does not state. */
  readonly errorsBy?: 'public fact' | 'our choice'
}

/**
 * Keys that are not in the document, by route: a public deployment accepts and returns them (public facts). The client
 * sends them only if a caller gives them.
 */
export const beyondDocument: Readonly<Record<string, readonly string[]>> = {
  'GET /v1/apps': ['page', 'limit', 'total_count', 'pagination'],
  'GET /v1/app/{app_name}/versions': ['page', 'limit', 'pagination', 'restart_policy', 'is_hidden'],
  'GET /v1/app/{app_name}/version/{version_name}': ['restart_policy', 'is_hidden'],
  'POST /v1/app/{app_name}/version': ['restart_policy', 'is_hidden'],
  'PATCH /v1/app/{app_name}/version/{version_name}': ['restart_policy', 'is_hidden'],
  'GET /v1/container-registry/images/{image_name}/tags': ['page', 'limit'],
  'GET /v1/deployments/{request_id}/tags': ['page', 'limit', 'total_count'],
  'GET /v1/relays/sessions': ['page', 'limit', 'total_count'],
  'GET /v1/deployment/{request_id}/container-logs': ['format'],
  'GET /v1/metrics/deployment/{request_id}': ['cpu_throttle_rate', 'cpu_throttle_total'],
}

type Details = Partial<Omit<Row, 'group' | 'route' | 'errors'>>

const row = (group: Row['group'], route: string, errors: readonly number[], details: Details = {}): Row => ({
  group,
  route,
  errors,
  request: {},
  required: [],
  response: undefined,
  success: [details.response === undefined ? 204 : 200],
  ...details,
})

export const rows: readonly Row[] = [
  row('Applications', 'POST /v1/app', [400, 401, 409, 500], {
    request: application,
    required: ['name'],
    requiredBy: 'our choice',
    response: 'Application',
  }),
  row('Applications', `PATCH ${app}`, [400, 401, 404, 409, 500], { request: application, response: 'Application' }),
  row('Applications', `GET ${app}`, [400, 401, 404, 500], { response: 'Application' }),
  row('Applications', `DELETE ${app}`, [400, 401, 404, 500]),
  row('Applications', 'GET /v1/apps', [400, 401, 500], { response: { applications: ['Application'] } }),
  row('Applications', `POST ${app}/version`, [400, 401, 404, 409, 424, 500], {
    request: version,
    required: ['name', 'docker_repository', 'docker_image', 'docker_tag', 'req_cpu', 'req_memory'],
    requiredBy: 'our choice',
    response: versionSaved,
  }),
  row('Applications', `GET ${ofVersion}`, [401, 404, 500], { response: 'Version' }),
  row('Applications', `PATCH ${ofVersion}`, [400, 401, 404, 424, 500], {
    request: versionChanges,
    response: versionSaved,
  }),
  row('Applications', `DELETE ${ofVersion}`, [401, 404, 500], { response: { success: 'boolean', message: 'string' } }),
  row('Applications', `GET ${app}/versions`, [400, 401, 404, 500], {
    response: { versions: ['Version'], total_count: 'integer' },
  }),

  row('Container registry', `GET ${image}`, [401, 404, 500], { response: { data: ['RegistryTag'] } }),
  row('Container registry', `DELETE ${image}/{tag_name}`, [401, 404, 500], {
    response: { artifact: 'RegistryArtifact', deleted_tag: 'string' },
  }),

  row('Log storage', 'POST /v1/storage/endpoint', [400, 401, 500], {
    request: storage,
    required: ['access_key_id', 'bucket', 'endpoint', 'name', 'secret_access_key'],
    response: 'EndpointStorage',
  }),
  row('Log storage', `GET ${endpoint}`, [400, 401, 404, 500], { response: 'EndpointStorage' }),
  row('Log storage', `PATCH ${endpoint}`, [400, 401, 404, 500], { request: storage, response: 'EndpointStorage' }),
  row('Log storage', `DELETE ${endpoint}`, [401, 404, 500]),
  row('Log storage', 'GET /v1/storage/endpoints', [400, 401, 500], {
    request: { ...page, x_fields: 'string' },
    response: { endpoints: ['EndpointStorage'], pagination: 'Pagination' },
  }),
  row('Log storage', `POST ${endpoint}/pull-profile`, [400, 401, 404, 500], {
    request: pullProfile,
    required: ['name', 'source', 'source_type', 'destination'],
    response: 'PullProfile',
  }),
  row('Log storage', `GET ${profile}`, [400, 401, 404, 500], { response: 'PullProfile' }),
  row('Log storage', `PATCH ${profile}`, [400, 401, 404, 500], { request: pullProfile, response: 'PullProfile' }),
  row('Log storage', `DELETE ${profile}`, [400, 401, 404, 500]),
  row('Log storage', `GET ${endpoint}/pull-profiles`, [400, 401, 404, 500], {
    request: page,
    response: { pull_profiles: ['PullProfile'], total_count: 'integer', pagination: 'Pagination' },
  }),
  row('Log storage', `PUT ${profile}/app/{app_name}/version/{version_name}`, [400, 401, 404, 500], {
    response: 'PullProfileLink',
  }),
  row('Log storage', `DELETE ${profile}/app/{app_name}/version/{version_name}`, [400, 401, 404, 500]),

  row('Locations and beacons', 'GET /v1/locations', [400, 401, 500], {
    request: { app: 'string', version: 'string', ...page, type: 'string', tags: 'boolean' },
    response: { locations: ['ListedLocation'], messages: ['string'], total_count: 'integer', pagination: 'Pagination' },
  }),
  row('Locations and beacons', 'GET /v1/locations/beacons', [400, 401, 500], {
    request: page,
    response: { locations: ['Beacon'], count: 'integer' },
  }),

  row('Deployments', 'POST /deployments', [400, 401, 422, 500], {
    request: {
      application: 'string',
      version: 'string',
      require_cached_locations: 'boolean',
      users: [{ user_type: 'string', user_data: { ip_address: 'string', latitude: 'number', longitude: 'number' } }],
      environment_variables: variables,
      tags: ['string'],
      webhook_on_ready: webhook,
      webhook_on_error: webhook,
      webhook_on_terminated: webhook,
    },
    required: ['application', 'version', 'users'],
    requiredBy: 'public fact',
    response: { request_id: 'string' },
    success: [202],
    errorsBy: 'public fact',
  }),
  row('Deployments', 'GET /v1/status/{request_id}', [400, 401, 500], { response: 'Deployment' }),
  row('Deployments', 'DELETE /v1/stop/{request_id}', [400, 401, 403, 404, 410, 500], {
    request: logStorage,
    response: stopped,
    success: [200, 202],
    errorsBy: 'public fact',
  }),
  row('Deployments', 'DELETE /v1/self/stop/{request_id}/{access_point_id}', [400, 401, 403, 404, 410, 500], {
    request: { authorization: 'string', ...logStorage },
    required: ['authorization'],
    response: stopped,
    success: [200, 202],
    errorsBy: 'public fact',
  }),
  row('Deployments', 'POST /v1/deployments/bulk-stop', [400, 401, 500], {
    request: { filters: ['Filter'] },
    required: ['filters'],
    requiredBy: 'our choice',
    response: { processable: [{ request_id: 'string' }] },
    success: [202],
  }),
  row('Deployments', 'GET /v1/deployments', [400, 401, 500], {
    request: {
      query: {
        filters: [{ field: 'string', operator: 'string', value: 'anything' }],
        order_by: [{ field: 'string', order: 'string' }],
      },
      ...page,
    },
    response: { data: ['DeploymentListEntry'], total_count: 'integer', pagination: 'Pagination', message: ['string'] },
  }),
  row('Deployments', 'GET /v1/deployment/{request_id}/container-logs', [400, 401, 404, 500], {
    response: 'ContainerLogs',
  }),
  row('Deployments', 'GET /v1/metrics/deployment/{request_id}', [400, 401, 404, 422, 500], {
    request: { start_time: 'time A', end_time: 'time A', steps: 'string', raw: 'boolean' },
    response: 'Metrics',
  }),

  row('Legacy deploy', 'POST /v1/deploy', [400, 401, 404, 409, 422], {
    errorsBy: 'public fact',
    request: {
      app_name: 'string',
      version_name: 'string',
      is_public_app: 'boolean',
      ip_list: ['string'],
      geo_ip_list: [{ ip: 'string', latitude: 'number', longitude: 'number' }],
      telemetry_profile_uuid_list: ['string'],
      env_vars: variables,
      skip_telemetry: 'boolean',
      location: { latitude: 'number', longitude: 'number' },
      webhook_url: 'string',
      tags: ['string'],
      container_log_storage: { enabled: 'boolean', endpoint_storage: 'string' },
      filters: ['Filter'],
      ap_sort_strategy: 'string',
      command: 'string or null',
      arguments: 'string or null',
    },
    // One of ip_list and geo_ip_list is required too.
    required: ['app_name'],
    requiredBy: 'our choice',
    response: 'LegacyDeployed',
  }),

  row('Fleets', 'POST /v1/fleet', [400, 401, 500], {
    request: fields('Fleet', 'name', 'enabled'),
    required: ['name'],
    requiredBy: 'our choice',
    response: 'Fleet',
  }),
  row('Fleets', `GET ${fleet}`, [400, 401, 404, 500], { response: 'Fleet' }),
  row('Fleets', `PATCH ${fleet}`, [400, 401, 404, 500], {
    request: fields('Fleet', 'name', 'enabled'),
    response: 'Fleet',
  }),
  row('Fleets', `DELETE ${fleet}`, [400, 401, 404, 500], { response: message }),
  row('Fleets', 'GET /v1/fleets', [400, 401, 500], {
    request: page,
    response: { fleets: ['Fleet'], pagination: 'Pagination' },
  }),
  row('Fleets', `POST ${fleet}/policies`, [400, 401, 404, 500], {
    request: policy,
    required: ['name'],
    requiredBy: 'our choice',
    response: 'FleetPolicy',
  }),
  row('Fleets', `GET ${fleet}/policies`, [400, 401, 404, 500], {
    request: { ...page, x_fields: 'string' },
    response: { policies: ['FleetPolicy'], pagination: 'Pagination' },
  }),
  row('Fleets', `GET ${fleet}/policies/{policy_name}`, [400, 401, 404, 500], { response: 'FleetPolicy' }),
  row('Fleets', `PATCH ${fleet}/policies/{policy_name}`, [400, 401, 404, 500], {
    request: policy,
    response: 'FleetPolicy',
  }),
  row('Fleets', `DELETE ${fleet}/policies/{policy_name}`, [400, 401, 404, 500], { response: message }),
  row('Fleets', `PUT ${fleet}/app/{app_name}/version/{version_name}`, [400, 401, 404, 500], { response: 'FleetLink' }),
  row('Fleets', `DELETE ${fleet}/app/{app_name}/version/{version_name}`, [400, 401, 404, 500]),

  row('Deployment tags', `GET ${tags}`, [400, 401, 404, 500], {
    response: { tags: ['DeploymentTag'], count: 'integer', pagination: 'Pagination' },
  }),
  row('Deployment tags', `GET ${tags}/{tag_name}`, [400, 401, 404, 500], { response: 'DeploymentTag' }),
  row('Deployment tags', `POST ${tags}`, [400, 401, 404, 409, 500], {
    request: { name: 'string' },
    required: ['name'],
    response: 'DeploymentTag',
  }),
  row('Deployment tags', `PATCH ${tags}/{tag_name}`, [400, 401, 404, 409, 500], {
    request: { name: 'string' },
    required: ['name'],
    response: 'DeploymentTag',
  }),
  row('Deployment tags', `DELETE ${tags}/{tag_name}`, [400, 401, 404, 500]),

  row('Relay sessions', `POST ${relays}`, [400, 401, 403, 500, 503], {
    request: { users: [{ ip: 'string' }], filters: ['Filter'], webhook_url: 'string' },
    required: ['users'],
    requiredBy: 'our choice',
    response: 'RelaySession',
    errorsBy: 'public fact',
  }),
  row('Relay sessions', `GET ${relays}`, [401, 403], {
    response: { sessions: ['RelaySession'], pagination: 'Pagination' },
    errorsBy: 'our choice',
  }),
  row('Relay sessions', `GET ${relays}/{session_id}`, [401, 403, 404], {
    response: 'RelaySession',
    errorsBy: 'public fact',
  }),
  row('Relay sessions', `DELETE ${relays}/{session_id}`, [401, 403, 404], { errorsBy: 'our choice' }),
  row('Relay sessions', `POST ${relays}:authorize-user`, [400, 401, 403, 404, 409], {
    request: { session_id: 'string', user_ip: 'string' },
    required: ['session_id', 'user_ip'],
    response: 'RelaySessionOfUser',
    errorsBy: 'public fact',
  }),
  row('Relay sessions', `POST ${relays}:revoke-user`, [400, 401, 403, 404], {
    request: { session_id: 'string', authorization_token: 'integer' },
    required: ['session_id', 'authorization_token'],
    response: 'RelaySession',
    success: [200, 204],
    errorsBy: 'public fact',
  }),
]
