import { z } from 'zod'
import { operation } from '../operation.js'
import { EnvironmentVariable } from './deployments.js'
import {
  answer,
  Filter,
  FilterEcho,
  httpUrl,
  integer,
  ipAddress,
  latitude,
  longitude,
  maybe,
  type Maybe,
  named,
  tagName,
  text,
} from './fields.js'
import { limits } from './documented-limits.js'
import { Location } from './locations.js'

/**
 * A deployment to create. Replaced by `deployments.create`, and kept for callers that still need it (service-api,
 * Legacy deploy).
 */
export interface DeployLegacy {
  /** The application to deploy. */
  readonly app_name: string
  /** The version to deploy. Default: the version that was created last. */
  readonly version_name?: string | undefined
  /** @deprecated No longer used by the service. */
  readonly is_public_app?: boolean | undefined
  /** Users' addresses. Exactly one of `ip_list` and `geo_ip_list` is required. */
  readonly ip_list?: readonly string[] | undefined
  /** Users' addresses and locations. Exactly one of `ip_list` and `geo_ip_list` is required. */
  readonly geo_ip_list?:
    | readonly {
        /** The user's public address. */
        readonly ip: string
        /** Latitude in degrees. */
        readonly latitude: number
        /** Longitude in degrees. */
        readonly longitude: number
      }[]
    | undefined
  /** @deprecated No longer used by the service. */
  readonly telemetry_profile_uuid_list?: readonly string[] | undefined
  /** Variables that are injected into the container. */
  readonly env_vars?: readonly EnvironmentVariable[] | undefined
  /** True gives a faster deployment. */
  readonly skip_telemetry?: boolean | undefined
  /** Location near which to deploy. */
  readonly location?:
    | {
        /** Latitude in degrees. */
        readonly latitude: number
        /** Longitude in degrees. */
        readonly longitude: number
      }
    | undefined
  /** URL to which the service POSTs the deployment's status view when it is ready. */
  readonly webhook_url?: string | undefined
  /** Tags that the dashboard shows, each of 1 to 40 characters (public fact). */
  readonly tags?: readonly string[] | undefined
  /** The storage for the container's logs when it stops. Both members are required (public fact). */
  readonly container_log_storage?:
    | {
        /** Whether the logs are stored. */
        readonly enabled: boolean
        /** The storage's name. */
        readonly endpoint_storage: string
      }
    | undefined
  /** The allowed locations. */
  readonly filters?: readonly Filter[] | undefined
  /** Strategy of the placement. The specification's sample has basic; public facts: basic, weighted. */
  readonly ap_sort_strategy?: 'basic' | 'weighted' | (string & {}) | undefined
  /** Command that replaces the container's own; null keeps the container's own. */
  readonly command?: string | null | undefined
  /** Arguments that replace the container's own; null keeps the container's own. */
  readonly arguments?: string | null | undefined
}

/** The requested deployment (service-api, Legacy deploy response). */
export interface LegacyDeployed {
  /** The id of the deployment. */
  readonly request_id: string
  /** The host name that the deployment will have. */
  readonly request_dns?: Maybe<string>
  /** The application's name. */
  readonly request_app?: Maybe<string>
  /** The version's name. */
  readonly request_version?: Maybe<string>
  /** Number of the given users. */
  readonly request_user_count?: Maybe<number>
  /** Names of the tags of the deployment. */
  readonly tags?: Maybe<readonly string[]>
  /** The shape of `container_log_storage` is not documented. */
  readonly container_log_storage?: unknown
  /** The fields of `location` are not documented for this response. They are probably those of a location. */
  readonly location?: Maybe<Location>
  /** The filters of the request. */
  readonly filters?: Maybe<readonly FilterEcho[]>
  /** The strategy of the request. */
  readonly ap_sort_strategy?: Maybe<string>
}

const coordinates = z.strictObject({ latitude, longitude })

const DeployLegacy = named<DeployLegacy>(
  'DeployLegacy',
  z
    .strictObject({
      app_name: z.string().min(1),
      version_name: z.string().min(1).optional(),
      is_public_app: z.boolean().optional(),
      ip_list: z.array(ipAddress).min(1).optional(),
      geo_ip_list: z
        .array(z.strictObject({ ip: ipAddress, latitude, longitude }))
        .min(1)
        .optional(),
      telemetry_profile_uuid_list: z.array(z.string()).optional(),
      env_vars: z.array(EnvironmentVariable).optional(),
      skip_telemetry: z.boolean().optional(),
      location: coordinates.optional(),
      webhook_url: httpUrl.optional(),
      tags: z.array(tagName).optional(),
      container_log_storage: z.strictObject({ enabled: z.boolean(), endpoint_storage: z.string().min(1) }).optional(),
      filters: z.array(Filter).optional(),
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
    }),
)

const LegacyDeployed = answer<LegacyDeployed>('LegacyDeployed', {
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
  /**
   * Deploy the legacy way.
   * Route: `POST /v1/deploy`.
   * Limit: 40 per second. Errors: `NotFound` (404), `Conflict` (409), `NoCapacity` (422).
   * Source: service-api, Legacy deploy; errors: public fact, required fields: our choice.
   * @deprecated The specification replaces it by `deployments.create`.
   */
  deployLegacy: operation('POST /v1/deploy', {
    summary: 'Deploy the legacy way',
    input: DeployLegacy,
    output: LegacyDeployed,
    errors: [400, 401, 404, 409, 422],
    limit: limits.legacyDeploy,
  }),
} as const
