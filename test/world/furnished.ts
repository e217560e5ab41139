import { createManualClock } from '@muster/core/clock'
import { type OperationId, operations } from '@muster/core/api'
import { createEmulator, type EmulatorOptions } from '@muster/emulator'

export interface RawAnswer {
  readonly status: number
  /** The body's text; undefined if there is no body. */
  readonly text: string | undefined
  /** The body, if it is JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Sends a request to a service, with the account's token unless the headers override it. */
export type Call = (
  method: string,
  target: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<RawAnswer>

/** The arguments of a request: path and query, and the body. */
export type Request = readonly [target: string, body?: unknown, headers?: Readonly<Record<string, string>>]

const OPTIONS: EmulatorOptions = {
  token: 'dev',
  limits: false,
  images: [
    { image: 'server', tag: '1.0', hash: 'sha256:one' },
    { image: 'server', tag: 'latest', hash: 'sha256:one' },
  ],
}

const image = { docker_repository: 'registry.example', docker_image: 'server', docker_tag: '1.0' }
/** Every field that both services accept in the same form. */
const version = {
  ...image,
  name: '1.0',
  req_cpu: 1024,
  req_memory: 2048,
  req_video: 0,
  is_active: true,
  max_duration: 60,
  private_username: 'robot',
  private_token: 'very secret',
  verify_image: false,
  force_cache: true,
  time_to_deploy: 120,
  termination_grace_period_seconds: 5,
  will_deploy_in_mainland_china: false,
  dns_config: 'default',
  endpoint_storage: 'logs',
  envs: [{ key: 'MODE', value: 'ranked' }],
  ports: [{ port: 7777, protocol: 'UDP', to_check: true, tls_upgrade: false, name: 'game' }],
}
const storage = {
  access_key_id: 'key',
  secret_access_key: 'very secret',
  endpoint: 'https://bucket.example',
  bucket: 'logs',
  output_format: 'NDJSON',
}
const profile = { source: 'maps/', source_type: 'Folder', destination: '/srv/maps' }
const application = { is_active: true, image: '' }
const users = [{ user_type: 'ip_address', user_data: { ip_address: '203.0.113.7' } }]
const filters = [{ field: 'continent', values: ['Europe'], filter_type: 'any' }]

/**
 * Starts a service with one object of each kind, a READY deployment and a ready relay session. Returns a valid request
 * for each of its operations.
 */
export async function furnished() {
  const clock = createManualClock()
  const emulator = createEmulator({ ...OPTIONS, as: 'observed', clock })
  const call: Call = async (method, target, body, headers = { authorization: 'token dev' }) => {
    const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await emulator.fetch(new Request(`http://service.invalid${target}`, request))
    const text = (await answer.text()) || undefined
    const isJson = answer.headers.get('content-type') === 'application/json'
    return { status: answer.status, text, body: isJson && text !== undefined ? JSON.parse(text) : {} }
  }
  const create = '/v2/deployments'
  const deployment = {
    application: 'arena',
    version: '1.0',
    users,
    require_cached_locations: false,
    tags: ['ranked'],
    environment_variables: [{ key: 'MODE', value: 'casual', is_hidden: false }],
  }

  await call('POST', '/v1/storage/endpoint', { ...storage, name: 'logs' })
  await call('POST', '/v1/app', { ...application, name: 'arena' })
  await call('POST', '/v1/app/arena/version', version)
  await call('POST', '/v1/storage/endpoint/logs/pull-profile', { ...profile, name: 'maps' })
  const link = '/v1/storage/endpoint/logs/pull-profile/maps/app/arena/version/1.0'
  await call('PUT', link)
  const { request_id = '' } = (await call('POST', create, deployment)).body as { request_id?: string }
  const relay = (await call('POST', '/v1/relays/sessions', { users: [{ ip: '203.0.113.7' }] })).body
  const session = String(relay['session_id'])
  await clock.advance(40_000)
  const variables = emulator.environment(request_id) ?? {}
  const selfStop = new URL(variables['ARBITRIUM_DELETE_URL'] ?? 'http://service.invalid/none').pathname
  const authorization = variables['ARBITRIUM_DELETE_TOKEN'] ?? ''
  const ready = (await call('GET', `/v1/relays/sessions/${session}`)).body
  const [user] = ready['session_users'] as readonly { readonly authorization_token: number }[]

  const requests: Readonly<Partial<Record<OperationId, Request>>> = {
    'applications.create': ['/v1/app', { ...application, name: 'puzzle' }],
    'applications.get': ['/v1/app/arena'],
    'applications.update': ['/v1/app/arena', { image: 'aW1hZ2U=' }],
    'applications.delete': ['/v1/app/arena'],
    'applications.list': ['/v1/apps?page=1&limit=3'],
    'versions.create': ['/v1/app/arena/version', { ...version, name: '2.0' }],
    'versions.get': ['/v1/app/arena/version/1.0'],
    'versions.update': ['/v1/app/arena/version/1.0', { max_duration: 30 }],
    'versions.delete': ['/v1/app/arena/version/1.0'],
    'versions.list': ['/v1/app/arena/versions?page=1&limit=3'],
    'registry.listTags': ['/v1/container-registry/images/server/tags?page=1&limit=1'],
    'registry.deleteTag': ['/v1/container-registry/images/server/tags/latest'],
    'storages.create': ['/v1/storage/endpoint', { ...storage, name: 'more' }],
    'storages.get': ['/v1/storage/endpoint/logs'],
    'storages.update': ['/v1/storage/endpoint/logs', { bucket: 'other' }],
    'storages.delete': ['/v1/storage/endpoint/logs'],
    'storages.list': ['/v1/storage/endpoints?page=1&limit=3'],
    'pullProfiles.create': ['/v1/storage/endpoint/logs/pull-profile', { ...profile, name: 'config' }],
    'pullProfiles.get': ['/v1/storage/endpoint/logs/pull-profile/maps'],
    'pullProfiles.update': ['/v1/storage/endpoint/logs/pull-profile/maps', { source: 'maps/new/' }],
    'pullProfiles.delete': ['/v1/storage/endpoint/logs/pull-profile/maps'],
    'pullProfiles.list': ['/v1/storage/endpoint/logs/pull-profiles?page=1&limit=3'],
    'pullProfiles.link': [link],
    'pullProfiles.unlink': [link],
    'locations.list': ['/v1/locations?app=arena&version=1.0&page=2&limit=3'],
    'locations.beacons': ['/v1/locations/beacons?page=1&limit=3'],
    'deployments.create': [create, deployment],
    'deployments.get': [`/v1/status/${request_id}`],
    'deployments.stop': [`/v1/stop/${request_id}`],
    'deployments.selfStop': [selfStop, undefined, { authorization }],
    'deployments.bulkStop': [
      '/v1/deployments/bulk-stop',
      { filters: [{ field: 'deployment_tags', values: ['ranked'], filter_type: 'any' }] },
    ],
    'deployments.list': ['/v1/deployments?page=1&limit=3'],
    'deployments.logs': [`/v1/deployment/${request_id}/container-logs`],
    'deployments.metrics': [`/v1/metrics/deployment/${request_id}?steps=5s`],
    'deployments.deployLegacy': [
      '/v1/deploy',
      { app_name: 'arena', version_name: '1.0', ip_list: ['203.0.113.7'], tags: ['old'], filters },
    ],
    'tags.list': [`/v1/deployments/${request_id}/tags?page=1&limit=3`],
    'tags.get': [`/v1/deployments/${request_id}/tags/ranked`],
    'tags.create': [`/v1/deployments/${request_id}/tags`, { name: 'casual' }],
    'tags.update': [`/v1/deployments/${request_id}/tags/ranked`, { name: 'casual' }],
    'tags.delete': [`/v1/deployments/${request_id}/tags/ranked`],
    'relays.create': ['/v1/relays/sessions', { users: [{ ip: '203.0.113.9' }] }],
    'relays.list': ['/v1/relays/sessions'],
    'relays.get': [`/v1/relays/sessions/${session}`],
    'relays.delete': [`/v1/relays/sessions/${session}`],
    'relays.authorizeUser': ['/v1/relays/sessions:authorize-user', { session_id: session, user_ip: '203.0.113.10' }],
    'relays.revokeUser': [
      '/v1/relays/sessions:revoke-user',
      { session_id: session, authorization_token: user?.authorization_token },
    ],
  }
  const methods = new Map(operations.map(([id, { method }]) => [id, method]))
  return {
    emulator,
    clock,
    call,
    request_id,
    /** Sends the request of an operation. */
    send: (id: OperationId) => {
      const [target, body, headers] = requests[id] ?? ['/none']
      return call(methods.get(id) ?? 'GET', target, body, headers)
    },
    close: () => emulator.close(),
  }
}
