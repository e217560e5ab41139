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

/** An operation of any type. */
export type AnyOperation = Pick<Operation, 'method' | 'path' | 'pathKeys' | 'headers' | 'input'>

/** A change that makes a valid input invalid, and the faulty field. */
export type BadInput = readonly [what: string, operation: AnyOperation, valid: object, change: object, field: string]

type Row = readonly [what: string, change: object, field?: string]

/** Creates the rows of one operation. The faulty field is the first changed field unless it is named. */
const of = (operation: AnyOperation, valid: object, rows: readonly Row[]): BadInput[] =>
  rows.map(([what, change, field = Object.keys(change)[0] ?? '']) => [what, operation, valid, change, field])

/** Invalid inputs by the document or by public facts. Each has exactly one invalid field. */
export const badInputs: readonly BadInput[] = [
  ...of(api.versions.create, version, [
    ['req_memory above twice req_cpu', { req_memory: 2049 }],
    ['req_cpu below the observed minimum', { req_cpu: 99, req_memory: 100 }],
    ['half a CPU unit', { req_cpu: 1024.5 }],
    ['a port above 59999', { ports: [{ port: 60_000, protocol: 'UDP' }] }, 'ports.0.port'],
    ['a port below 0', { ports: [{ port: -1, protocol: 'UDP' }] }, 'ports.0.port'],
    ['a version name of 65 characters', { name: 'x'.repeat(65) }],
    ['a max_duration above a day', { max_duration: 1441 }],
    ['a grace period of 4 seconds', { termination_grace_period_seconds: 4 }],
    ['a value of more than 4096 bytes', { envs: [{ key: 'k', value: '€'.repeat(1366) }] }, 'envs.0.value'],
    ['zero sockets', { session_config: { kind: 'Seat', sockets: 0 } }, 'session_config.sockets'],
  ]),
  ...of(api.versions.update, { app_name: 'a', version_name: 'v' }, [
    ['only req_cpu in an update', { req_cpu: 512 }],
    ['only req_memory in an update', { req_memory: 512 }],
    ['only req_video in an update', { req_video: 512 }],
  ]),
  ...of(api.applications.create, { name: 'shooter' }, [
    ['an image that is not base64', { image: 'not base64!' }],
    ['an application name of 2 characters', { name: 'ab' }],
    ['an unknown key', { is_activ: true }],
  ]),
  ...of(api.applications.get, { app_name: 'a' }, [['an empty name in a path', { app_name: '' }]]),
  ...of(api.deployments.deployLegacy, legacy, [
    ['neither ip_list nor geo_ip_list', { ip_list: undefined }],
    ['both ip_list and geo_ip_list', { geo_ip_list: [{ ip: '203.0.113.8', latitude: 1, longitude: 2 }] }],
    ['an empty ip_list', { ip_list: [] }],
  ]),
  ...of(api.deployments.create, deployment, [
    ['no user', { users: [] }],
    ['an unknown kind of user', { users: [{ ...address, user_type: 'name' }] }, 'users.0.user_type'],
    [
      'coordinates instead of an IP address',
      { users: [{ ...place, user_type: 'ip_address' }] },
      'users.0.user_data.ip_address',
    ],
    [
      'an invalid IP address',
      { users: [{ ...address, user_data: { ip_address: '1.2.3' } }] },
      'users.0.user_data.ip_address',
    ],
    [
      'a latitude beyond the pole',
      { users: [{ ...place, user_data: { latitude: 91, longitude: 0 } }] },
      'users.0.user_data.latitude',
    ],
    [
      'a variable without is_hidden',
      { environment_variables: [{ key: 'k', value: 'v' }] },
      'environment_variables.0.is_hidden',
    ],
    ['a tag of 41 characters', { tags: ['x'.repeat(41)] }, 'tags.0'],
    ['a webhook that is not a URL', { webhook_on_ready: { url: 'here' } }, 'webhook_on_ready.url'],
    ['a webhook to a file', { webhook_on_error: { url: 'file:///etc/passwd' } }, 'webhook_on_error.url'],
  ]),
  ...of(api.deployments.stop, { request_id: 'r' }, [
    ['an empty storage name', { container_log_storage: '' }],
    ['a number as storage', { container_log_storage: 1 }],
  ]),
  ...of(api.deployments.bulkStop, { filters: [{ field: 'request_id', values: ['r'], filter_type: 'any' }] }, [
    ['no filter', { filters: [] }],
  ]),
  ...of(api.deployments.list, {}, [
    ['an invalid order', { query: { order_by: [{ field: 'created_at', order: 'up' }] } }, 'query.order_by.0.order'],
  ]),
  ...of(api.deployments.metrics, metrics, [
    ['an end at the start', { start_time: start, end_time: start }, 'end_time'],
    ['an end before the start', { start_time: start, end_time: '2026-01-31 07:59:59.9' }, 'end_time'],
    [
      'an end before the start, with a shorter fraction',
      { start_time: '2026-01-31 08:00:00.12', end_time: '2026-01-31 08:00:00.1' },
      'end_time',
    ],
    ['a start in format B', { start_time: '2026-01-31T08:00:00.000Z' }],
    ['a start without a fraction', { start_time: '2026-01-31 08:00:00' }],
    ['30 February', { end_time: '2026-02-30 08:00:00.000000' }],
    ['25 o’clock', { end_time: '2026-01-31 25:00:00.000000' }],
    ['steps without a unit', { steps: '30' }],
    ['steps of 0 minutes', { steps: '0m' }],
    ['steps in days', { steps: '1d' }],
    ['raw as a string', { raw: 'yes' }],
  ]),
  ...of(api.storages.create, storage, [
    ['log version v3', { container_log_version: 'v3' }],
    ['XML as output', { output_format: 'XML' }],
    ['an endpoint without http', { endpoint: 'bucket.example' }],
  ]),
  ...of(api.storages.update, { endpoint_name: 'logs' }, [['an endpoint by ftp', { endpoint: 'ftp://bucket.example' }]]),
  ...of(api.pullProfiles.create, profile, [
    ['a source of another type', { source_type: 'Link' }],
    ['a destination in /etc', { destination: '/etc/passwd' }],
  ]),
  ...of(api.pullProfiles.update, { endpoint_name: 'logs', pull_profile_name: 'maps' }, [
    ['a destination that leads to /etc', { destination: '/srv//../etc/x' }],
  ]),
  ...of(api.policies.create, policy, [
    ['a threshold below 0.1', { threshold: 0.09 }],
    ['a negative number of deployments', { minimum: -1 }],
  ]),
  ...of(api.policies.update, { fleet_name: 'eu', policy_name: 'base' }, [['a threshold above 1', { threshold: 1.1 }]]),
  ...of(api.tags.create, { request_id: 'r', name: 't' }, [['an empty tag', { name: '' }]]),
  ...of(api.relays.create, { users: [{ ip: '203.0.113.7' }] }, [['no relay user', { users: [] }]]),
  ...of(api.relays.revokeUser, { session_id: 's', authorization_token: 1 }, [
    ['a token above 32 bits', { authorization_token: 2 ** 32 }],
  ]),
]
