import { api, type Operation } from '@muster/core/api'

export const version = {
  app_name: 'shooter',
  name: 'v1',
  docker_repository: 'registry.example',
  docker_image: 'studio/server',
  docker_tag: '1.0',
  req_cpu: 1024,
  req_memory: 2048,
}
const address = { user_type: 'ip_address', user_data: { ip_address: '203.0.113.7' } }
const place = { user_type: 'geo_coordinates', user_data: { latitude: 45.5, longitude: -73.6 } }
export const deployment = { application: 'shooter', version: 'v1', users: [address] }
const legacy = { app_name: 'shooter', ip_list: ['203.0.113.7'] }
export const storage = {
  name: 'logs',
  access_key_id: 'id',
  secret_access_key: 'secret',
  endpoint: 'https://bucket.example',
  bucket: 'logs',
}
export const profile = {
  endpoint_name: 'logs',
  name: 'maps',
  source: 'maps/',
  source_type: 'Folder',
  destination: '/srv/maps',
}
export const policy = { fleet_name: 'eu', name: 'base' }
export const metrics = { request_id: 'r' }
export const start = '2026-01-31 08:00:00.000000'

/** An operation of any input and output. */
export type AnyOperation = Pick<Operation, 'method' | 'path' | 'pathKeys' | 'headers' | 'input'>

/** A change that makes a valid input wrong, and the field at fault. */
export type BadInput = readonly [what: string, operation: AnyOperation, valid: object, change: object, field: string]

/** Inputs that the document or public facts exclude, each valid except for one field. */
export const badInputs: readonly BadInput[] = [
  ['req_memory above twice req_cpu', api.versions.create, version, { req_memory: 2049 }, 'req_memory'],
  ['req_cpu below what was seen', api.versions.create, version, { req_cpu: 99, req_memory: 100 }, 'req_cpu'],
  ['half a CPU unit', api.versions.create, version, { req_cpu: 1024.5 }, 'req_cpu'],
  ['a port above 59999', api.versions.create, version, { ports: [{ port: 60_000, protocol: 'UDP' }] }, 'ports.0.port'],
  ['a port below 0', api.versions.create, version, { ports: [{ port: -1, protocol: 'UDP' }] }, 'ports.0.port'],
  ['a version name of 65 characters', api.versions.create, version, { name: 'x'.repeat(65) }, 'name'],
  ['a max_duration above a day', api.versions.create, version, { max_duration: 1441 }, 'max_duration'],
  [
    'a grace period of 4 seconds',
    api.versions.create,
    version,
    { termination_grace_period_seconds: 4 },
    'termination_grace_period_seconds',
  ],
  [
    'a value of more than 4096 bytes',
    api.versions.create,
    version,
    { envs: [{ key: 'k', value: '€'.repeat(1366) }] },
    'envs.0.value',
  ],
  [
    'no sockets',
    api.versions.create,
    version,
    { session_config: { kind: 'Seat', sockets: 0 } },
    'session_config.sockets',
  ],
  ['CPU in an update', api.versions.update, { app_name: 'a', version_name: 'v' }, { req_cpu: 512 }, 'req_cpu'],
  ['memory in an update', api.versions.update, { app_name: 'a', version_name: 'v' }, { req_memory: 512 }, 'req_memory'],
  ['GPU in an update', api.versions.update, { app_name: 'a', version_name: 'v' }, { req_video: 512 }, 'req_video'],
  ['an image that is not base64', api.applications.create, { name: 'shooter' }, { image: 'not base64!' }, 'image'],
  ['an application name of 2 characters', api.applications.create, { name: 'shooter' }, { name: 'ab' }, 'name'],
  ['an empty name in a path', api.applications.get, { app_name: 'a' }, { app_name: '' }, 'app_name'],
  ['an unknown key', api.applications.create, { name: 'shooter' }, { is_activ: true }, 'is_activ'],

  ['neither ip_list nor geo_ip_list', api.deployments.deployLegacy, legacy, { ip_list: undefined }, 'ip_list'],
  [
    'both of them',
    api.deployments.deployLegacy,
    legacy,
    { geo_ip_list: [{ ip: '203.0.113.8', latitude: 1, longitude: 2 }] },
    'geo_ip_list',
  ],
  ['an empty ip_list', api.deployments.deployLegacy, legacy, { ip_list: [] }, 'ip_list'],
  ['no user', api.deployments.create, deployment, { users: [] }, 'users'],
  [
    'an unknown kind of user',
    api.deployments.create,
    deployment,
    { users: [{ ...address, user_type: 'name' }] },
    'users.0.user_type',
  ],
  [
    'coordinates for an address',
    api.deployments.create,
    deployment,
    { users: [{ ...place, user_type: 'ip_address' }] },
    'users.0.user_data.ip_address',
  ],
  [
    'an address that is none',
    api.deployments.create,
    deployment,
    { users: [{ ...address, user_data: { ip_address: '1.2.3' } }] },
    'users.0.user_data.ip_address',
  ],
  [
    'a latitude beyond the pole',
    api.deployments.create,
    deployment,
    { users: [{ ...place, user_data: { latitude: 91, longitude: 0 } }] },
    'users.0.user_data.latitude',
  ],
  [
    'a variable that does not say whether it is hidden',
    api.deployments.create,
    deployment,
    { environment_variables: [{ key: 'k', value: 'v' }] },
    'environment_variables.0.is_hidden',
  ],
  ['a tag of 41 characters', api.deployments.create, deployment, { tags: ['x'.repeat(41)] }, 'tags.0'],
  [
    'a webhook that is no URL',
    api.deployments.create,
    deployment,
    { webhook_on_ready: { url: 'here' } },
    'webhook_on_ready.url',
  ],
  [
    'a webhook to a file',
    api.deployments.create,
    deployment,
    { webhook_on_error: { url: 'file:///etc/passwd' } },
    'webhook_on_error.url',
  ],
  [
    'an empty storage name',
    api.deployments.stop,
    { request_id: 'r' },
    { container_log_storage: '' },
    'container_log_storage',
  ],
  [
    'a number as storage',
    api.deployments.stop,
    { request_id: 'r' },
    { container_log_storage: 1 },
    'container_log_storage',
  ],
  [
    'no filter',
    api.deployments.bulkStop,
    { filters: [{ field: 'request_id', values: ['r'], filter_type: 'any' }] },
    { filters: [] },
    'filters',
  ],
  [
    'an order that is none',
    api.deployments.list,
    {},
    { query: { order_by: [{ field: 'created_at', order: 'up' }] } },
    'query.order_by.0.order',
  ],

  ['an end at the start', api.deployments.metrics, metrics, { start_time: start, end_time: start }, 'end_time'],
  [
    'an end before the start',
    api.deployments.metrics,
    metrics,
    { start_time: start, end_time: '2026-01-31 07:59:59.9' },
    'end_time',
  ],
  [
    'an end with a shorter fraction, yet before',
    api.deployments.metrics,
    metrics,
    { start_time: '2026-01-31 08:00:00.12', end_time: '2026-01-31 08:00:00.1' },
    'end_time',
  ],
  ['a start in format B', api.deployments.metrics, metrics, { start_time: '2026-01-31T08:00:00.000Z' }, 'start_time'],
  ['a start without a fraction', api.deployments.metrics, metrics, { start_time: '2026-01-31 08:00:00' }, 'start_time'],
  ['30 February', api.deployments.metrics, metrics, { end_time: '2026-02-30 08:00:00.000000' }, 'end_time'],
  ['25 o’clock', api.deployments.metrics, metrics, { end_time: '2026-01-31 25:00:00.000000' }, 'end_time'],
  ['steps without a unit', api.deployments.metrics, metrics, { steps: '30' }, 'steps'],
  ['steps of nothing', api.deployments.metrics, metrics, { steps: '0m' }, 'steps'],
  ['steps in days', api.deployments.metrics, metrics, { steps: '1d' }, 'steps'],
  ['raw as text', api.deployments.metrics, metrics, { raw: 'yes' }, 'raw'],

  ['log version v3', api.storages.create, storage, { container_log_version: 'v3' }, 'container_log_version'],
  ['XML as output', api.storages.create, storage, { output_format: 'XML' }, 'output_format'],
  ['an endpoint without http', api.storages.create, storage, { endpoint: 'bucket.example' }, 'endpoint'],
  [
    'an endpoint by ftp',
    api.storages.update,
    { endpoint_name: 'logs' },
    { endpoint: 'ftp://bucket.example' },
    'endpoint',
  ],
  ['a source of another type', api.pullProfiles.create, profile, { source_type: 'Link' }, 'source_type'],
  ['a destination in /etc', api.pullProfiles.create, profile, { destination: '/etc/passwd' }, 'destination'],
  [
    'a destination that leads to /etc',
    api.pullProfiles.update,
    { endpoint_name: 'logs', pull_profile_name: 'maps' },
    { destination: '/srv//../etc/x' },
    'destination',
  ],
  ['a threshold below 0.1', api.policies.create, policy, { threshold: 0.09 }, 'threshold'],
  [
    'a threshold above 1',
    api.policies.update,
    { fleet_name: 'eu', policy_name: 'base' },
    { threshold: 1.1 },
    'threshold',
  ],
  ['fewer than no deployments', api.policies.create, policy, { minimum: -1 }, 'minimum'],
  ['an empty tag', api.tags.create, { request_id: 'r', name: 't' }, { name: '' }, 'name'],
  ['no relay user', api.relays.create, { users: [{ ip: '203.0.113.7' }] }, { users: [] }, 'users'],
  [
    'a token above 32 bits',
    api.relays.revokeUser,
    { session_id: 's', authorization_token: 1 },
    { authorization_token: 2 ** 32 },
    'authorization_token',
  ],
]
