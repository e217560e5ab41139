import { z } from 'zod'
import { operation } from '../operation.js'
import {
  decimal,
  environmentValue,
  flag,
  integer,
  maybe,
  secret,
  segment,
  text,
  timestampB,
  type Maybe,
  type TimestampB,
} from './fields.js'
import { seen } from './settings.js'

/** Public fact: TCP, UDP, TCP/UDP, HTTP, HTTPS, WS, WSS. */
export type PortProtocol = 'TCP' | 'UDP' | 'TCP/UDP' | 'HTTP' | 'HTTPS' | 'WS' | 'WSS' | (string & {})

/** A port that the container opens. */
export interface VersionPort {
  /** 0 to 59999. */
  readonly port: number
  readonly protocol: PortProtocol
  /** Whether the port is tested before the deployment counts as ready. */
  readonly to_check?: boolean | undefined
  readonly tls_upgrade?: boolean | undefined
  readonly name?: string | undefined
}

/** An environment variable of a version. */
export interface VersionVariable {
  readonly key: string
  /** At most 4096 bytes (public fact). A secret if `is_secret`. */
  readonly value: string
  readonly is_secret?: boolean | undefined
}

/** How deployments of a version share their sockets among sessions. Meanings are public facts; the specification shows none. */
export interface SessionConfig {
  /** Default, Seat or Match. */
  readonly kind: 'Default' | 'Seat' | 'Match' | (string & {})
  /** Slots per deployment, at least 1. */
  readonly sockets: number
  /** Deploy when sockets run short. */
  readonly autodeploy?: boolean | undefined
  /** Minutes without a session before the deployment ends. */
  readonly empty_ttl?: number | undefined
  /** Minutes. */
  readonly session_max_duration?: number | undefined
}

/** What a version and its update have in common. */
export interface VersionChanges {
  readonly is_active?: boolean | undefined
  /** Registry host (the field name is a misnomer). */
  readonly docker_repository?: string | undefined
  /** Image name, usually with a namespace or project. */
  readonly docker_image?: string | undefined
  /** Must be valid for the image. */
  readonly docker_tag?: string | undefined
  /** Registry username; not an account credential of the service. */
  readonly private_username?: string | undefined
  /** Registry token or password. A secret. */
  readonly private_token?: string | undefined
  /** Minutes before the automatic stop; the service's default is 1440. -1 to 1440 (range: public fact). */
  readonly max_duration?: number | undefined
  /** Cache the container across all locations for faster deployments. */
  readonly force_cache?: boolean | undefined
  /** Seconds to wait for the version to deploy before marking it failed. */
  readonly time_to_deploy?: number | undefined
  readonly session_config?: SessionConfig | undefined
  readonly ports?: readonly VersionPort[] | undefined
  readonly envs?: readonly VersionVariable[] | undefined
  /** Test that the image can be pulled; the answer is 424 if it can't. */
  readonly verify_image?: boolean | undefined
  /** Seconds after SIGTERM before the container stops. 5 to 3600 (range: public fact). */
  readonly termination_grace_period_seconds?: number | undefined
  /** Name of the endpoint storage that receives container logs; overrides the default storage of the version. */
  readonly endpoint_storage?: string | undefined
  /** Replaces the container's default command; null keeps it. */
  readonly command?: string | null | undefined
  /** Replaces the container's default arguments; null keeps them. */
  readonly arguments?: string | null | undefined
  readonly dns_config?: string | undefined
  /** true: deploys only in mainland China locations; false: never deploys there. */
  readonly will_deploy_in_mainland_china?: boolean | undefined
}

/** Which fields are required is not shown; by our choice those without which nothing could be deployed are. */
export interface CreateVersion extends VersionChanges {
  readonly app_name: string
  /** Unique in its application, 1 to 64 characters (length: public fact). */
  readonly name: string
  readonly docker_repository: string
  readonly docker_image: string
  readonly docker_tag: string
  /** vCPU units, 1024 = 1 vCPU; at least 100 (public fact). */
  readonly req_cpu: number
  /** MB, 1024 = 1 GB; at least 100 (public fact), at most twice `req_cpu`. */
  readonly req_memory: number
  /** GPU units, 1024 = 1 GPU. */
  readonly req_video?: number | undefined
}

export interface UpdateVersion extends VersionChanges {
  readonly app_name: string
  readonly version_name: string
  /** A new name. */
  readonly name?: string | undefined
}

export interface VersionName {
  readonly app_name: string
  readonly version_name: string
}

/** The full specification from which deployments are made (service-api, Application version). */
export interface Version {
  readonly name: string
  readonly is_active?: Maybe<boolean>
  readonly docker_repository?: Maybe<string>
  readonly docker_image?: Maybe<string>
  readonly docker_tag?: Maybe<string>
  readonly private_username?: Maybe<string>
  /** A secret. */
  readonly private_token?: Maybe<string>
  /** vCPU units, 1024 = 1 vCPU. */
  readonly req_cpu?: Maybe<number>
  /** MB. */
  readonly req_memory?: Maybe<number>
  /** GPU units, 1024 = 1 GPU. */
  readonly req_video?: Maybe<number>
  /** Minutes. */
  readonly max_duration?: Maybe<number>
  readonly force_cache?: Maybe<boolean>
  /** Its values are not shown (0 was sampled). */
  readonly kind?: Maybe<number>
  /** Seconds. */
  readonly time_to_deploy?: Maybe<number>
  readonly session_config?: Maybe<{
    readonly kind?: Maybe<string>
    readonly sockets?: Maybe<number>
    readonly autodeploy?: Maybe<boolean>
    readonly empty_ttl?: Maybe<number>
    readonly session_max_duration?: Maybe<number>
  }>
  readonly ports?: Maybe<
    readonly {
      readonly port?: Maybe<number>
      readonly protocol?: Maybe<PortProtocol>
      readonly to_check?: Maybe<boolean>
      readonly tls_upgrade?: Maybe<boolean>
      readonly name?: Maybe<string>
    }[]
  >
  readonly envs?: Maybe<
    readonly {
      readonly key?: Maybe<string>
      /** A secret if `is_secret`. */
      readonly value?: Maybe<string>
      readonly is_secret?: Maybe<boolean>
    }[]
  >
  readonly verify_image?: Maybe<boolean>
  /** Seconds. */
  readonly termination_grace_period_seconds?: Maybe<number>
  readonly endpoint_storage?: Maybe<string>
  readonly command?: Maybe<string>
  readonly arguments?: Maybe<string>
  readonly dns_config?: Maybe<string>
  readonly will_deploy_in_mainland_china?: Maybe<boolean>
  /** Format B. */
  readonly create_time?: Maybe<TimestampB>
  /** Format B. */
  readonly last_updated?: Maybe<TimestampB>
}

export const Version: z.ZodType<Version> = z.looseObject({
  name: text,
  is_active: maybe(flag),
  docker_repository: maybe(text),
  docker_image: maybe(text),
  docker_tag: maybe(text),
  private_username: maybe(text),
  private_token: maybe(secret),
  req_cpu: maybe(integer),
  req_memory: maybe(integer),
  req_video: maybe(integer),
  max_duration: maybe(integer),
  force_cache: maybe(flag),
  kind: maybe(integer),
  time_to_deploy: maybe(integer),
  session_config: maybe(
    z.looseObject({
      kind: maybe(text),
      sockets: maybe(integer),
      autodeploy: maybe(flag),
      empty_ttl: maybe(decimal),
      session_max_duration: maybe(decimal),
    }),
  ),
  ports: maybe(
    z.array(
      z.looseObject({
        port: maybe(integer),
        protocol: maybe(text),
        to_check: maybe(flag),
        tls_upgrade: maybe(flag),
        name: maybe(text),
      }),
    ),
  ),
  envs: maybe(z.array(z.looseObject({ key: maybe(text), value: maybe(text), is_secret: maybe(flag) }))),
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

export interface VersionSaved {
  readonly success?: Maybe<boolean>
  readonly version: Version
}

export interface VersionDeleted {
  readonly success?: Maybe<boolean>
  readonly message?: Maybe<string>
}

export interface VersionList {
  readonly versions: readonly Version[]
  readonly total_count?: Maybe<number>
}

const VersionSaved: z.ZodType<VersionSaved> = z.looseObject({ success: maybe(flag), version: Version })
const VersionDeleted: z.ZodType<VersionDeleted> = z.looseObject({ success: maybe(flag), message: maybe(text) })
const VersionList: z.ZodType<VersionList> = z.looseObject({ versions: z.array(Version), total_count: maybe(integer) })

const name = z.string().min(seen.versionName.min).max(seen.versionName.max)
const changes = {
  is_active: z.boolean().optional(),
  docker_repository: z.string().min(1).optional(),
  docker_image: z.string().min(1).optional(),
  docker_tag: z.string().min(1).optional(),
  private_username: z.string().optional(),
  private_token: secret.optional(),
  max_duration: z.int().min(seen.maxDuration.min).max(seen.maxDuration.max).optional(),
  force_cache: z.boolean().optional(),
  time_to_deploy: z.int().min(1).optional(),
  session_config: z
    .strictObject({
      kind: z.string().min(1),
      sockets: z.int().min(1),
      autodeploy: z.boolean().optional(),
      empty_ttl: z.int().min(0).optional(),
      session_max_duration: z.int().min(0).optional(),
    })
    .optional(),
  ports: z
    .array(
      z.strictObject({
        port: z.int().min(0).max(59999),
        protocol: z.string().min(1),
        to_check: z.boolean().optional(),
        tls_upgrade: z.boolean().optional(),
        name: z.string().min(1).optional(),
      }),
    )
    .optional(),
  envs: z
    .array(z.strictObject({ key: z.string().min(1), value: environmentValue, is_secret: z.boolean().optional() }))
    .optional(),
  verify_image: z.boolean().optional(),
  termination_grace_period_seconds: z.int().min(seen.terminationGrace.min).max(seen.terminationGrace.max).optional(),
  endpoint_storage: z.string().min(1).optional(),
  command: z.string().nullish(),
  arguments: z.string().nullish(),
  dns_config: z.string().min(1).optional(),
  will_deploy_in_mainland_china: z.boolean().optional(),
}

const VersionName: z.ZodType<VersionName> = z.strictObject({ app_name: segment, version_name: segment })

const CreateVersion: z.ZodType<CreateVersion> = z
  .strictObject({
    app_name: segment,
    ...changes,
    name,
    docker_repository: z.string().min(1),
    docker_image: z.string().min(1),
    docker_tag: z.string().min(1),
    req_cpu: z.int().min(seen.resources.min),
    req_memory: z.int().min(seen.resources.min),
    req_video: z.int().min(0).optional(),
  })
  .refine((version) => version.req_memory <= 2 * version.req_cpu, {
    path: ['req_memory'],
    error: 'must be at most twice req_cpu',
  })

const UpdateVersion: z.ZodType<UpdateVersion> = z.strictObject({
  app_name: segment,
  version_name: segment,
  name: name.optional(),
  ...changes,
})

const AppName: z.ZodType<{ readonly app_name: string }> = z.strictObject({ app_name: segment })

export const versions = {
  create: operation('POST /v1/app/{app_name}/version', {
    summary: 'Create an application version',
    input: CreateVersion,
    output: VersionSaved,
    errors: [400, 401, 404, 409, 424, 500],
  }),
  get: operation('GET /v1/app/{app_name}/version/{version_name}', {
    summary: 'Read an application version',
    input: VersionName,
    output: Version,
    errors: [401, 404, 500],
  }),
  update: operation('PATCH /v1/app/{app_name}/version/{version_name}', {
    summary: 'Change an application version (CPU, memory and GPU stay)',
    input: UpdateVersion,
    output: VersionSaved,
    errors: [400, 401, 404, 424, 500],
  }),
  delete: operation('DELETE /v1/app/{app_name}/version/{version_name}', {
    summary: 'Delete an application version',
    input: VersionName,
    output: VersionDeleted,
    errors: [401, 404, 500],
  }),
  list: operation('GET /v1/app/{app_name}/versions', {
    summary: 'List the versions of an application',
    input: AppName,
    output: VersionList,
    errors: [400, 401, 404, 500],
  }),
} as const
