/**
 * The tables of the service's document, transcribed by hand and without the description in packages/core/src/api, so
 * that the two can be compared. Facts only; no package imports them.
 */

/** 'time A' and 'time B' are the document's two formats of a timestamp. */
export type Primitive =
  | 'string'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'number or string'
  | 'string or null'
  | 'time A'
  | 'time B'
  | 'anything'

/**
 * The type of a field: a primitive, the name of a resource, an object by its keys ('*' for any key), or [item type].
 */
export type Shape = Primitive | ResourceName | { readonly [key: string]: Shape } | readonly [Shape]

const basicLocation = {
  city: 'string',
  country: 'string',
  continent: 'string',
  administrative_division: 'string',
  timezone: 'string',
  latitude: 'number or string',
  longitude: 'number or string',
} as const

const artifact = {
  artifact_deleted: 'boolean',
  remaining_tags: ['string'],
  image_hash: 'string',
  size_mb: 'number',
} as const

const ports = {
  '*': {
    external: 'integer',
    internal: 'integer',
    protocol: 'string',
    name: 'string',
    tls_upgrade: 'boolean',
    link: 'string',
    proxy: 'integer',
  },
} as const

const relayUser = {
  ip_address: 'string',
  latitude: 'number',
  longitude: 'number',
  authorization_token: 'integer',
} as const

const relayPort = { port: 'integer', protocol: 'string', link: 'string' } as const

const relaySession = {
  session_id: 'string',
  authorization_token: 'integer',
  status: 'string',
  ready: 'boolean',
  linked: 'boolean',
  error: 'string',
  relay: { ip: 'string', host: 'string', ports: { server: relayPort, client: relayPort } },
  webhook_url: 'string',
} as const

const series = { labels: ['string'], datasets: ['string'], timestamps: ['string'] } as const

type ResourceName =
  | 'Application'
  | 'Version'
  | 'EndpointStorage'
  | 'PullProfile'
  | 'PullProfileLink'
  | 'RegistryTag'
  | 'RegistryArtifact'
  | 'Location'
  | 'ListedLocation'
  | 'Beacon'
  | 'Deployment'
  | 'DeploymentListEntry'
  | 'LegacyDeployed'
  | 'Filter'
  | 'Fleet'
  | 'FleetLink'
  | 'FleetPolicy'
  | 'DeploymentTag'
  | 'RelaySession'
  | 'RelaySessionOfUser'
  | 'ContainerLogs'
  | 'Metrics'
  | 'Pagination'

/** 'Resources and their fields'. */
export const resources: Readonly<Record<ResourceName, { readonly [field: string]: Shape }>> = {
  Application: {
    name: 'string',
    is_active: 'boolean',
    is_telemetry_agent_active: 'boolean',
    image: 'string',
    create_time: 'time A',
    last_updated: 'time A',
  },
  Version: {
    name: 'string',
    is_active: 'boolean',
    docker_repository: 'string',
    docker_image: 'string',
    docker_tag: 'string',
    private_username: 'string',
    private_token: 'string',
    req_cpu: 'integer',
    req_memory: 'integer',
    req_video: 'integer',
    max_duration: 'integer',
    force_cache: 'boolean',
    kind: 'integer',
    time_to_deploy: 'integer',
    session_config: {
      kind: 'string',
      sockets: 'integer',
      autodeploy: 'boolean',
      empty_ttl: 'integer',
      session_max_duration: 'integer',
    },
    ports: [{ port: 'integer', protocol: 'string', to_check: 'boolean', tls_upgrade: 'boolean', name: 'string' }],
    envs: [{ key: 'string', value: 'string', is_secret: 'boolean' }],
    verify_image: 'boolean',
    termination_grace_period_seconds: 'integer',
    endpoint_storage: 'string',
    command: 'string or null',
    arguments: 'string or null',
    dns_config: 'string',
    will_deploy_in_mainland_china: 'boolean',
    create_time: 'time B',
    last_updated: 'time B',
  },
  EndpointStorage: {
    name: 'string',
    container_log_version: 'string',
    access_key_id: 'string',
    endpoint: 'string',
    bucket: 'string',
    output_format: 'string',
    create_time: 'time A',
    last_updated: 'time A',
  },
  PullProfile: {
    name: 'string',
    source: 'string',
    source_type: 'string',
    destination: 'string',
    create_time: 'time A',
    last_updated: 'time A',
  },
  PullProfileLink: {
    app: 'string',
    app_version: 'string',
    endpoint: 'string',
    pull_profile: 'string',
    create_time: 'time A',
    last_updated: 'time A',
  },
  RegistryTag: { tag: 'string', last_push_at: 'time B', artifact: 'RegistryArtifact' },
  RegistryArtifact: artifact,
  Location: basicLocation,
  ListedLocation: { ...basicLocation, type: 'string', tags: [{ key: 'string', value: 'string' }] },
  Beacon: { host: 'string', fqdn: 'string', udp_port: 'integer', tcp_port: 'integer', location: 'Location' },
  Deployment: {
    request_id: 'string',
    fqdn: 'string',
    app_name: 'string',
    app_version: 'string',
    current_status: 'string',
    last_status: 'string',
    running: 'boolean',
    whitelisting_active: 'boolean',
    start_time: 'time A',
    removal_time: 'time A',
    elapsed_time: 'integer',
    error: 'boolean',
    error_detail: 'string',
    ports,
    public_ip: 'string',
    sessions: [
      {
        session_id: 'string',
        status: 'string',
        ready: 'boolean',
        linked: 'boolean',
        kind: 'string',
        user_count: 'number or string',
      },
    ],
    location: 'Location',
    tags: ['string'],
    sockets: 'number or string',
    sockets_usage: 'number or string',
    command: 'string',
    arguments: 'string',
    max_duration: 'integer',
  },
  DeploymentListEntry: {
    request_id: 'string',
    fqdn: 'string',
    start_time: 'time A',
    ready: 'boolean',
    public_ip: 'string',
    ports,
    tags: ['string'],
    sockets: 'number or string',
    sockets_usage: 'number or string',
    is_joinable_by_session: 'boolean',
  },
  LegacyDeployed: {
    request_id: 'string',
    request_dns: 'string',
    request_app: 'string',
    request_version: 'string',
    request_user_count: 'integer',
    tags: ['string'],
    container_log_storage: 'anything',
    location: 'Location',
    filters: ['Filter'],
    ap_sort_strategy: 'string',
  },
  Filter: { field: 'string', values: ['string'], filter_type: 'string' },
  Fleet: { name: 'string', enabled: 'boolean', create_time: 'time A', last_updated: 'time A' },
  FleetLink: { app: 'string', app_version: 'string', fleet: 'string', create_time: 'time A', last_updated: 'time A' },
  FleetPolicy: {
    name: 'string',
    enabled: 'boolean',
    type: 'string',
    minimum: 'integer',
    maximum: 'integer',
    threshold: 'number',
    data: { filters: ['Filter'] },
    create_time: 'time A',
    last_updated: 'time A',
  },
  DeploymentTag: { name: 'string', create_time: 'time A', last_updated: 'time A' },
  RelaySession: { ...relaySession, session_users: [relayUser] },
  RelaySessionOfUser: { ...relaySession, session_user: relayUser },
  ContainerLogs: {
    logs: 'string',
    encoding: 'string',
    crash_logs: 'string',
    crash_data: { exit_code: 'integer', message: 'string', restart_count: 'integer' },
    logs_link: 'string',
  },
  Metrics: {
    total: { receive_total: series, transmit_total: series, disk_read_total: series, disk_write_total: series },
    cpu: series,
    mem: series,
    network: { receive: series, transmit: series },
  },
  Pagination: {
    number: 'integer',
    next_page_number: 'integer',
    previous_page_number: 'integer',
    paginator: { num_pages: 'integer' },
    has_next: 'boolean',
    has_previous: 'boolean',
  },
}

/** 'Limits': requests per second. */
export const rateLimits: Readonly<Record<string, number>> = {
  'POST /deployments': 40,
  'GET /v1/status/{request_id}': 20,
  'GET /v1/deployments': 10,
  'POST /v1/deploy': 40,
}

/** The nine tables of 'Endpoints', with the number of operations in each. */
export const groupSizes = {
  Applications: 10,
  'Container registry': 2,
  'Log storage': 12,
  'Locations and beacons': 2,
  Deployments: 8,
  'Legacy deploy': 1,
  Fleets: 12,
  'Deployment tags': 5,
  'Relay sessions': 6,
} as const
