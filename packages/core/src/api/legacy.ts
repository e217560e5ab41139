import { z } from 'zod'
import { operation } from '../operation.js'
import { EnvironmentVariable } from './deployments.js'
import {
  FilterEcho,
  FilterInput,
  httpUrl,
  integer,
  ipAddress,
  latitude,
  longitude,
  maybe,
  tagName,
  text,
  type Filter,
  type Maybe,
} from './fields.js'
import { limits } from './limits.js'
import { Location } from './locations.js'

/** Replaced by `deployments.create`; here for those who still need it (service-api, Legacy deploy). */
export interface DeployLegacy {
  readonly app_name: string
  /** When left out, the last version created is used. */
  readonly version_name?: string | undefined
  /** @deprecated No longer used by the service. */
  readonly is_public_app?: boolean | undefined
  /** Users' addresses. Exactly one of `ip_list` and `geo_ip_list` is required. */
  readonly ip_list?: readonly string[] | undefined
  /** Users' addresses with coordinates in degrees. */
  readonly geo_ip_list?: readonly { readonly ip: string; readonly latitude: number; readonly longitude: number }[] | undefined
  /** @deprecated No longer used by the service. */
  readonly telemetry_profile_uuid_list?: readonly string[] | undefined
  readonly env_vars?: readonly EnvironmentVariable[] | undefined
  /** true gives a faster deployment. */
  readonly skip_telemetry?: boolean | undefined
  readonly location?: { readonly latitude: number; readonly longitude: number } | undefined
  /** POSTed with the status view when the deployment is ready. */
  readonly webhook_url?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly container_log_storage?: { readonly enabled: boolean; readonly endpoint_storage?: string | undefined } | undefined
  readonly filters?: readonly Filter[] | undefined
  /** Sampled as basic; public facts: basic, weighted. */
  readonly ap_sort_strategy?: 'basic' | 'weighted' | (string & {}) | undefined
  /** null keeps the container's default. */
  readonly command?: string | null | undefined
  /** null keeps the container's default. */
  readonly arguments?: string | null | undefined
}

export interface LegacyDeployed {
  readonly request_id: string
  readonly request_dns?: Maybe<string>
  readonly request_app?: Maybe<string>
  readonly request_version?: Maybe<string>
  readonly request_user_count?: Maybe<number>
  readonly tags?: Maybe<readonly string[]>
  /** Its shape is not shown. */
  readonly container_log_storage?: unknown
  readonly location?: Maybe<Location>
  readonly filters?: Maybe<readonly FilterEcho[]>
  readonly ap_sort_strategy?: Maybe<string>
}

const coordinates = z.strictObject({ latitude, longitude })

const DeployLegacy: z.ZodType<DeployLegacy> = z
  .strictObject({
    app_name: z.string().min(1),
    version_name: z.string().min(1).optional(),
    is_public_app: z.boolean().optional(),
    ip_list: z.array(ipAddress).min(1).optional(),
    geo_ip_list: z.array(z.strictObject({ ip: ipAddress, latitude, longitude })).min(1).optional(),
    telemetry_profile_uuid_list: z.array(z.string()).optional(),
    env_vars: z.array(EnvironmentVariable).optional(),
    skip_telemetry: z.boolean().optional(),
    location: coordinates.optional(),
    webhook_url: httpUrl.optional(),
    tags: z.array(tagName).optional(),
    container_log_storage: z
      .strictObject({ enabled: z.boolean(), endpoint_storage: z.string().min(1).optional() })
      .optional(),
    filters: z.array(FilterInput).optional(),
    ap_sort_strategy: z.string().min(1).optional(),
    command: z.string().nullish(),
    arguments: z.string().nullish(),
  })
  .refine((input) => input.ip_list !== undefined || input.geo_ip_list !== undefined, {
    path: ['ip_list'],
    error: 'is required, unless geo_ip_list is given',
  })
  .refine((input) => input.ip_list === undefined || input.geo_ip_list === undefined, {
    path: ['geo_ip_list'],
    error: 'must not be given together with ip_list',
  })

const LegacyDeployed: z.ZodType<LegacyDeployed> = z.looseObject({
  request_id: z.string().min(1),
  request_dns: maybe(text),
  request_app: maybe(text),
  request_version: maybe(text),
  request_user_count: maybe(integer),
  tags: maybe(z.array(text)),
  container_log_storage: z.unknown().optional(),
  location: maybe(Location),
  filters: maybe(z.array(FilterEcho)),
  ap_sort_strategy: maybe(text),
})

export const legacy = {
  deployLegacy: operation('POST /v1/deploy', {
    summary: 'Deploy the legacy way',
    input: DeployLegacy,
    output: LegacyDeployed,
    errors: [400, 401, 409, 422],
    limit: limits.legacyDeploy,
  }),
} as const
