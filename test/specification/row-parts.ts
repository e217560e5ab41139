import { resources, type Shape } from './tables.js'

/** Fields of a resource by name, which a body has. */
export const fields = (resource: keyof typeof resources, ...keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key, resources[resource][key] as Shape]))

export const application = fields('Application', 'name', 'is_active', 'is_telemetry_agent_active', 'image')

export const versionChanges = fields(
  'Version',
  'name',
  'is_active',
  'docker_repository',
  'docker_image',
  'docker_tag',
  'private_username',
  'private_token',
  'max_duration',
  'force_cache',
  'time_to_deploy',
  'session_config',
  'ports',
  'envs',
  'verify_image',
  'termination_grace_period_seconds',
  'endpoint_storage',
  'command',
  'arguments',
  'dns_config',
  'will_deploy_in_mainland_china',
)
export const version = { ...versionChanges, ...fields('Version', 'req_cpu', 'req_memory', 'req_video') }
export const versionSaved = { success: 'boolean', version: 'Version' } as const

export const storage = {
  ...fields('EndpointStorage', 'name', 'container_log_version', 'access_key_id', 'endpoint', 'bucket', 'output_format'),
  secret_access_key: 'string',
} as const
export const pullProfile = fields('PullProfile', 'name', 'source', 'source_type', 'destination')
export const policy = fields('FleetPolicy', 'name', 'enabled', 'type', 'minimum', 'maximum', 'threshold', 'data')

export const page = { page: 'integer', limit: 'integer' } as const
export const variables = [{ key: 'string', value: 'string', is_hidden: 'boolean' }] as const
export const webhook = { url: 'string' } as const
export const message = { message: 'string' } as const
export const stopped = { message: 'string', deployment_summary: 'Deployment' } as const
/** `true`, `false` or a storage's name. */
export const logStorage = { container_log_storage: 'anything' } as const

export const app = '/v1/app/{app_name}'
export const ofVersion = `${app}/version/{version_name}`
export const image = '/v1/container-registry/images/{image_name}/tags'
export const endpoint = '/v1/storage/endpoint/{endpoint_name}'
export const profile = `${endpoint}/pull-profile/{pull_profile_name}`
export const fleet = '/v1/fleet/{fleet_name}'
export const tags = '/v1/deployments/{request_id}/tags'
export const relays = '/v1/relays/sessions'
