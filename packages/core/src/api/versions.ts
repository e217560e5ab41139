import { z } from 'zod'
import { operation } from '../operation.js'
import type { ApplicationName } from './applications.js'
import {
  answer,
  type Counted,
  counted,
  environmentValue,
  flag,
  input,
  integer,
  limitedInteger,
  limitedText,
  type Masked,
  maybe,
  type Maybe,
  named,
  page,
  type PageInput,
  secret,
  secretText,
  segment,
  text,
  timestampB,
  type TimestampB,
} from './fields.js'

/** Protocol of a port: TCP, UDP, TCP/UDP, HTTP, HTTPS, WS or WSS (public fact). */
export type PortProtocol = 'TCP' | 'UDP' | 'TCP/UDP' | 'HTTP' | 'HTTPS' | 'WS' | 'WSS' | (string & {})

/** A port that the container opens. */
export interface VersionPort {
  /** Number of the port, 0 to 59999. */
  readonly port: number
  /** Protocol of the port: TCP, UDP, TCP/UDP, HTTP, HTTPS, WS or WSS (public fact). */
  readonly protocol: PortProtocol
  /** Whether the port is tested before the deployment counts as ready. */
  readonly to_check?: boolean | undefined
  /** Whether the service terminates TLS in front of the port. */
  readonly tls_upgrade?: boolean | undefined
  /** The key under which deployments show the port. */
  readonly name?: string | undefined
}

/** An environment variable of a version. */
export interface VersionVariable {
  /** Name of the variable in the container. */
  readonly key: string
  /** Value of the variable, at most 4096 bytes (public fact). It is a secret if `is_secret` is true. */
  readonly value: string
  /** Whether the value is a secret. */
  readonly is_secret?: boolean | undefined
  /** True hides the value: a public deployment's name for `is_secret` (public fact). Sent only if given. */
  readonly is_hidden?: boolean | undefined
}

/**
 * How deployments of a version share sockets among sessions. The specification does not describe the fields' meanings,
 * which are public facts.
 */
export interface SessionConfig {
  /** Kind of the sessions: Default, Seat or Match. */
  readonly kind: 'Default' | 'Seat' | 'Match' | (string & {})
  /** Slots per deployment, at least 1. */
  readonly sockets: number
  /** True deploys another server when sockets run short. */
  readonly autodeploy?: boolean | undefined
  /** Minutes without a session before the deployment ends. */
  readonly empty_ttl?: number | undefined
  /** Minutes that a session may last. */
  readonly session_max_duration?: number | undefined
}

/** A port that the container opens, in responses. */
export type VersionPortEcho = Masked<VersionPort>

/** An environment variable of a version, in responses. */
export type VersionVariableEcho = Masked<VersionVariable>

/** How deployments share their sockets among sessions, in responses. */
export type SessionConfigEcho = Masked<SessionConfig>

export const VersionPort = input<VersionPort>('VersionPort', {
  port: limitedInteger('port'),
  protocol: z.string().min(1),
  to_check: z.boolean().optional(),
  tls_upgrade: z.boolean().optional(),
  name: z.string().min(1).optional(),
})
export const VersionVariable = input<VersionVariable>('VersionVariable', {
  key: z.string().min(1),
  value: environmentValue,
  is_secret: z.boolean().optional(),
  is_hidden: z.boolean().optional(),
})
export const SessionConfig = input<SessionConfig>('SessionConfig', {
  kind: z.string().min(1),
  sockets: z.int().min(1),
  autodeploy: z.boolean().optional(),
  empty_ttl: z.int().min(0).optional(),
  session_max_duration: z.int().min(0).optional(),
})

export const VersionPortEcho = answer<VersionPortEcho>('VersionPortEcho', {
  port: maybe(integer),
  protocol: maybe(text),
  to_check: maybe(flag),
  tls_upgrade: maybe(flag),
  name: maybe(text),
})
export const VersionVariableEcho = answer<VersionVariableEcho>('VersionVariableEcho', {
  key: maybe(text),
  value: maybe(text),
  is_secret: maybe(flag),
  is_hidden: maybe(flag),
})
export const SessionConfigEcho = answer<SessionConfigEcho>('SessionConfigEcho', {
  kind: maybe(text),
  sockets: maybe(integer),
  autodeploy: maybe(flag),
  empty_ttl: maybe(integer),
  session_max_duration: maybe(integer),
})

/** The full specification from which deployments are made (service-api, Application version). */
export interface Version extends Masked<Omit<VersionChanges, 'session_config' | 'ports' | 'envs'>> {
  /** Name of the version, which paths use too. */
  readonly name: string
  /** CPU in vCPU units, 1024 = 1 vCPU. */
  readonly req_cpu?: Maybe<number>
  /** Memory in MB, 1024 = 1 GB. */
  readonly req_memory?: Maybe<number>
  /** GPU in GPU units, 1024 = 1 GPU. */
  readonly req_video?: Maybe<number>
  /** The values of `kind` are not documented (0 was sampled). */
  readonly kind?: Maybe<number>
  /** How deployments share their sockets among sessions. */
  readonly session_config?: Maybe<SessionConfigEcho>
  /** The ports that the container opens. */
  readonly ports?: Maybe<readonly VersionPortEcho[]>
  /** Environment variables of every deployment. */
  readonly envs?: Maybe<readonly VersionVariableEcho[]>
  /** When the version was created, in format B. */
  readonly create_time?: Maybe<TimestampB>
  /** When the version was last updated, in format B. */
  readonly last_updated?: Maybe<TimestampB>
}

export const Version = answer<Version>('Version', {
  name: text,
  is_active: maybe(flag),
  docker_repository: maybe(text),
  docker_image: maybe(text),
  docker_tag: maybe(text),
  private_username: maybe(text),
  private_token: maybe(secretText),
  req_cpu: maybe(integer),
  req_memory: maybe(integer),
  req_video: maybe(integer),
  max_duration: maybe(integer),
  force_cache: maybe(flag),
  kind: maybe(integer),
  time_to_deploy: maybe(integer),
  session_config: maybe(SessionConfigEcho),
  ports: maybe(z.array(VersionPortEcho)),
  envs: maybe(z.array(VersionVariableEcho)),
  restart_policy: maybe(text) as z.ZodType<unknown> as z.ZodType<Version['restart_policy']>,
  verify_image: maybe(flag),
  termination_grace_period_seconds: maybe(integer),
  endpoint_storage: maybe(text),
  command: maybe(text),
  arguments: maybe(text),
  dns_config: maybe(text),
  will_deploy_in_mainland_china: maybe(flag),
  create_time: maybe(timestampB),
  last_updated: maybe(timestampB),
})

/** The common fields of a version and its update. */
export interface VersionChanges {
  /** Whether the version can be deployed. */
  readonly is_active?: boolean | undefined
  /** Host of the image registry. The name of the field is misleading. */
  readonly docker_repository?: string | undefined
  /** Image name, usually with a namespace or project. */
  readonly docker_image?: string | undefined
  /** Image tag. The image must have it. */
  readonly docker_tag?: string | undefined
  /** Username at the image registry. It is not an account credential of the service. */
  readonly private_username?: string | undefined
  /** Token or password for the image registry. A secret. */
  readonly private_token?: string | undefined
  /** Minutes before the automatic stop, -1 to 1440 (range: public fact). The service's default is 1440. */
  readonly max_duration?: number | undefined
  /** True caches the container image across all locations for faster deployments. */
  readonly force_cache?: boolean | undefined
  /** Seconds in which the version must deploy, at least 15 (public fact). After that, the deployment has failed. */
  readonly time_to_deploy?: number | undefined
  /** How deployments share their sockets among sessions. Without it, a deployment has no sockets. */
  readonly session_config?: SessionConfig | undefined
  /** The ports that the container opens. */
  readonly ports?: readonly VersionPort[] | undefined
  /** Environment variables of every deployment. */
  readonly envs?: readonly VersionVariable[] | undefined
  /**
   * When the container is restarted after it has ended (public fact). The specification does not have this field, so it
   * is sent only if given.
   */
  readonly restart_policy?: 'always' | 'never' | 'on_failure' | undefined
  /** True tests that the image can be pulled. The response is 424 if it cannot. */
  readonly verify_image?: boolean | undefined
  /** Seconds from SIGTERM until the container is killed. 5 to 3600 (range: public fact). */
  readonly termination_grace_period_seconds?: number | undefined
  /** Name of the endpoint storage that receives container logs. It overrides the default storage of the version. */
  readonly endpoint_storage?: string | undefined
  /** Command that replaces the container's default; null keeps the default. */
  readonly command?: string | null | undefined
  /** Arguments that replace the container's default; null keeps the default. */
  readonly arguments?: string | null | undefined
  /** Name of the DNS configuration linked to the deployment. */
  readonly dns_config?: string | undefined
  /** True deploys only in locations in mainland China. False never deploys there. */
  readonly will_deploy_in_mainland_china?: boolean | undefined
}

/**
 * The version to create. The specification does not say which fields are required. By our choice, all fields that a
 * deployment needs are required.
 */
export interface CreateVersion extends VersionChanges {
  /** The application that gets the version. */
  readonly app_name: string
  /** Name of the version, unique in its application, 1 to 64 characters (length: public fact). */
  readonly name: string
  /** Host of the image registry. The name of the field is misleading. */
  readonly docker_repository: string
  /** Image name, usually with a namespace or project. */
  readonly docker_image: string
  /** Image tag. The image must have it. */
  readonly docker_tag: string
  /** CPU in vCPU units, 1024 = 1 vCPU; at least 100 (public fact). */
  readonly req_cpu: number
  /** Memory in MB, 1024 = 1 GB; at least 100 (public fact), at most twice `req_cpu`. */
  readonly req_memory: number
  /** GPU in GPU units, 1024 = 1 GPU. */
  readonly req_video?: number | undefined
}

/** Changes of a version. Absent fields stay unchanged. CPU, memory and GPU cannot be changed. */
export interface UpdateVersion extends VersionChanges, VersionName {
  /** A new name, 1 to 64 characters (length: public fact). */
  readonly name?: string | undefined
}

/** Names a version. */
export interface VersionName extends ApplicationName {
  /** The version's name. */
  readonly version_name: string
}

/** The version after the change. */
export interface VersionSaved {
  /** Whether the version was saved. */
  readonly success?: Maybe<boolean>
  /** The version. */
  readonly version: Version
}

/** The version after an update. */
export interface VersionUpdated {
  /** Whether the version was saved. */
  readonly success?: Maybe<boolean>
  /** The version. A public deployment leaves it out (public fact). Read it again if you need it. */
  readonly version?: Maybe<Version>
}

/** The result of deleting a version. */
export interface VersionDeleted {
  /** Whether the version was deleted. */
  readonly success?: Maybe<boolean>
  /** A message for people. */
  readonly message?: Maybe<string>
}

/** The versions to list, and their application. */
export interface ListVersions extends ApplicationName, PageInput {}

/** The versions of an application. */
export interface VersionList extends Counted {
  /** The entries of this page: all of them, unless the service pages the list (public fact). */
  readonly versions: readonly Version[]
}

const VersionSaved = answer<VersionSaved>('VersionSaved', { success: maybe(flag), version: Version })
const VersionUpdated = answer<VersionUpdated>('VersionUpdated', { success: maybe(flag), version: maybe(Version) })
const VersionDeleted = answer<VersionDeleted>('VersionDeleted', { success: maybe(flag), message: maybe(text) })
const VersionList = answer<VersionList>('VersionList', { versions: z.array(Version), ...counted })

const name = limitedText('versionName')
const changes = {
  is_active: z.boolean().optional(),
  docker_repository: z.string().min(1).optional(),
  docker_image: z.string().min(1).optional(),
  docker_tag: z.string().min(1).optional(),
  private_username: z.string().optional(),
  private_token: secret.optional(),
  max_duration: limitedInteger('maxDuration').optional(),
  force_cache: z.boolean().optional(),
  time_to_deploy: limitedInteger('timeToDeploy').optional(),
  session_config: SessionConfig.optional(),
  ports: z.array(VersionPort).optional(),
  envs: z.array(VersionVariable).optional(),
  restart_policy: z.enum(['always', 'never', 'on_failure']).optional(),
  verify_image: z.boolean().optional(),
  termination_grace_period_seconds: limitedInteger('terminationGrace').optional(),
  endpoint_storage: z.string().min(1).optional(),
  command: z.string().nullish(),
  arguments: z.string().nullish(),
  dns_config: z.string().min(1).optional(),
  will_deploy_in_mainland_china: z.boolean().optional(),
}

const ListVersions = input<ListVersions>('ListVersions', { app_name: segment, ...page })
const VersionName = input<VersionName>('VersionName', { app_name: segment, version_name: segment })

const CreateVersion = named<CreateVersion>(
  'CreateVersion',
  z
    .strictObject({
      app_name: segment,
      ...changes,
      name,
      docker_repository: z.string().min(1),
      docker_image: z.string().min(1),
      docker_tag: z.string().min(1),
      req_cpu: limitedInteger('reqCpu'),
      req_memory: limitedInteger('reqMemory'),
      req_video: z.int().min(0).optional(),
    })
    .refine((version) => version.req_memory <= 2 * version.req_cpu, {
      path: ['req_memory'],
      error: 'must be at most twice req_cpu',
    }),
)

const UpdateVersion = input<UpdateVersion>('UpdateVersion', {
  app_name: segment,
  version_name: segment,
  name: name.optional(),
  ...changes,
})

export const versions = {
  /**
   * Create an application version.
   * Route: `POST /v1/app/{app_name}/version`.
   * Limit: none documented. Errors: `NotFound` (404), `Conflict` (409), `DependencyFailed` (424).
   * Source: service-api, Applications; required fields: our choice.
   */
  create: operation('POST /v1/app/{app_name}/version', {
    summary: 'Create an application version',
    input: CreateVersion,
    output: VersionSaved,
    errors: [400, 401, 404, 409, 424, 500],
  }),
  /**
   * Read an application version.
   * Route: `GET /v1/app/{app_name}/version/{version_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Applications.
   */
  get: operation('GET /v1/app/{app_name}/version/{version_name}', {
    summary: 'Read an application version',
    input: VersionName,
    output: Version,
    errors: [401, 404, 500],
  }),
  /**
   * Change an application version (CPU, memory and GPU stay).
   * Route: `PATCH /v1/app/{app_name}/version/{version_name}`.
   * Limit: none documented. Errors: `NotFound` (404), `DependencyFailed` (424).
   * Source: service-api, Applications.
   */
  update: operation('PATCH /v1/app/{app_name}/version/{version_name}', {
    summary: 'Change an application version (CPU, memory and GPU stay)',
    input: UpdateVersion,
    output: VersionUpdated,
    errors: [400, 401, 404, 424, 500],
  }),
  /**
   * Delete an application version.
   * Route: `DELETE /v1/app/{app_name}/version/{version_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Applications.
   */
  delete: operation('DELETE /v1/app/{app_name}/version/{version_name}', {
    summary: 'Delete an application version',
    input: VersionName,
    output: VersionDeleted,
    errors: [401, 404, 500],
  }),
  /**
   * List the versions of an application.
   * Route: `GET /v1/app/{app_name}/versions`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Applications.
   */
  list: operation('GET /v1/app/{app_name}/versions', {
    summary: 'List the versions of an application',
    input: ListVersions,
    output: VersionList,
    errors: [400, 401, 404, 500],
    items: 'versions',
  }),
} as const
