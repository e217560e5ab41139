import type { EmulatorOptions } from '@muster/emulator'
import type { Harness, Inputs } from './harness.js'

/** Options of the emulator that `furnish` needs. */
export const furnishable: EmulatorOptions = {
  images: [
    { image: 'studio/server', tag: '1.0', hash: 'sha256:one' },
    { image: 'studio/server', tag: 'latest', hash: 'sha256:one' },
  ],
  canPull: ({ docker_tag }) => docker_tag !== 'missing',
}

export const version = {
  docker_repository: 'registry.example',
  docker_image: 'studio/server',
  docker_tag: '1.0',
  req_cpu: 1024,
  req_memory: 2048,
}

export const user = { user_type: 'ip_address', user_data: { ip_address: '203.0.113.7' } } as const

/** The names of the objects in a furnished service. */
export interface Furniture {
  /** A READY deployment. */
  readonly request_id: string
  readonly access_point_id: string
  readonly delete_token: string
  /** A ready session with two users. */
  readonly session_id: string
  readonly user_token: number
}

/**
 * Creates one object of each kind in an empty service, and waits until the deployment and the relay session are ready.
 */
export async function furnish({ client, clock, emulator }: Harness): Promise<Furniture> {
  await client.applications.create({
    name: 'arena',
    is_active: true,
    is_telemetry_agent_active: true,
    image: 'aW1hZ2U=',
  })
  await client.storages.create({
    name: 'logs',
    container_log_version: 'v2',
    access_key_id: 'key',
    secret_access_key: 'very secret',
    endpoint: 'https://bucket.example',
    bucket: 'logs',
    output_format: 'NDJSON',
  })
  await client.versions.create({
    ...version,
    app_name: 'arena',
    name: '1.0',
    private_username: 'robot',
    private_token: 'very secret too',
    session_config: { kind: 'Seat', sockets: 10, autodeploy: false, empty_ttl: 5, session_max_duration: 60 },
    ports: [{ port: 7777, protocol: 'UDP', to_check: true, tls_upgrade: false, name: 'game' }],
    envs: [{ key: 'MODE', value: 'ranked', is_secret: false }],
    endpoint_storage: 'logs',
    dns_config: 'default',
  })
  await client.pullProfiles.create({
    endpoint_name: 'logs',
    name: 'maps',
    source: 'maps/',
    source_type: 'Folder',
    destination: '/srv/maps',
  })
  await client.fleets.create({ name: 'europe' })
  await client.policies.create({
    fleet_name: 'europe',
    name: 'base',
    type: 'Location',
    minimum: 0,
    maximum: 2,
    threshold: 0.5,
    data: { filters: [{ field: 'continent', values: ['Europe'], filter_type: 'any' }] },
  })
  const { request_id } = await client.deployments.create({
    application: 'arena',
    version: '1.0',
    users: [user],
    tags: ['ranked'],
  })
  const relay = await client.relays.create({
    users: [{ ip: '203.0.113.7' }, { ip: '203.0.113.8' }],
    webhook_url: 'http://127.0.0.1:9/relay',
  })
  await clock.advance(40_000)
  emulator.setSessions(request_id, { 'session-1': 3 })

  const ready = await client.relays.get({ session_id: relay.session_id })
  const variables = emulator.environment(request_id)
  return {
    request_id,
    access_point_id: variables?.['SERVICE_DELETE_URL']?.split('/').at(-1) ?? '',
    delete_token: variables?.['SERVICE_DELETE_TOKEN'] ?? '',
    session_id: relay.session_id,
    user_token: ready.session_users?.[0]?.authorization_token ?? -1,
  }
}

/** Returns a valid input for every operation in a furnished service. */
export const inputsFor = ({ request_id, access_point_id, delete_token, session_id, user_token }: Furniture): Inputs => {
  const link = { app_name: 'arena', version_name: '1.0' }
  const profile = { endpoint_name: 'logs', pull_profile_name: 'maps' }
  const policy = { fleet_name: 'europe', policy_name: 'base' }
  return {
    applications: {
      create: { name: 'puzzle' },
      update: { app_name: 'arena', is_telemetry_agent_active: false },
      get: { app_name: 'arena' },
      delete: { app_name: 'arena' },
      list: {},
    },
    versions: {
      create: { ...version, app_name: 'arena', name: '2.0' },
      get: link,
      update: { ...link, max_duration: 60, command: './server' },
      delete: link,
      list: { app_name: 'arena' },
    },
    registry: {
      listTags: { image_name: 'studio/server' },
      deleteTag: { image_name: 'studio/server', tag_name: 'latest' },
    },
    storages: {
      create: {
        name: 'more',
        access_key_id: 'key',
        secret_access_key: 'secret',
        endpoint: 'http://bucket.example',
        bucket: 'more',
      },
      get: { endpoint_name: 'logs' },
      update: { endpoint_name: 'logs', bucket: 'other', secret_access_key: 'another secret' },
      delete: { endpoint_name: 'logs' },
      list: { page: 1, limit: 5 },
    },
    pullProfiles: {
      create: {
        endpoint_name: 'logs',
        name: 'config',
        source: 'game.cfg',
        source_type: 'File',
        destination: '/srv/game.cfg',
      },
      get: profile,
      update: { ...profile, source: 'maps/new/' },
      delete: profile,
      list: { endpoint_name: 'logs' },
      link: { ...profile, ...link },
      unlink: { ...profile, ...link },
    },
    locations: { list: { app: 'arena', version: '1.0', tags: true, limit: 3 }, beacons: { limit: 3 } },
    deployments: {
      create: { application: 'arena', version: '1.0', users: [user] },
      get: { request_id },
      stop: { request_id },
      selfStop: { request_id, access_point_id, authorization: delete_token, container_log_storage: 'logs' },
      bulkStop: { filters: [{ field: 'request_id', values: [request_id], filter_type: 'any' }] },
      list: { query: { filters: [{ field: 'tags', operator: 'eq', value: 'ranked' }] } },
      logs: { request_id },
      metrics: { request_id, steps: '30s', raw: false },
      deployLegacy: {
        app_name: 'arena',
        ip_list: ['203.0.113.7'],
        tags: ['old'],
        filters: [{ field: 'continent', values: ['Europe'], filter_type: 'any' }],
      },
    },
    fleets: {
      create: { name: 'asia' },
      get: { fleet_name: 'europe' },
      update: { fleet_name: 'europe', name: 'eu' },
      delete: { fleet_name: 'europe' },
      list: {},
      link: { fleet_name: 'europe', ...link },
      unlink: { fleet_name: 'europe', ...link },
    },
    policies: {
      create: { fleet_name: 'europe', name: 'more', minimum: 0 },
      list: { fleet_name: 'europe' },
      get: policy,
      update: { ...policy, maximum: 4 },
      delete: policy,
    },
    tags: {
      list: { request_id },
      get: { request_id, tag_name: 'ranked' },
      create: { request_id, name: 'casual' },
      update: { request_id, tag_name: 'ranked', name: 'casual' },
      delete: { request_id, tag_name: 'ranked' },
    },
    relays: {
      create: { users: [{ ip: '203.0.113.9' }] },
      list: {},
      get: { session_id },
      delete: { session_id },
      authorizeUser: { session_id, user_ip: '203.0.113.10' },
      revokeUser: { session_id, authorization_token: user_token },
    },
  }
}
