import { z } from 'zod'
import { operation } from '../operation.js'
import { Deployment, DeploymentListEntry } from './deployment.js'
import {
  environmentValue,
  FilterInput,
  httpUrl,
  integer,
  ipAddress,
  latitude,
  longitude,
  maybe,
  page,
  Pagination,
  secret,
  segment,
  tagName,
  text,
  type Filter,
  type Maybe,
  type PageInput,
} from './fields.js'
import { limits } from './limits.js'

/** A player for whom a place is sought: by address or by coordinates in degrees. */
export type DeploymentUser =
  | { readonly user_type: 'ip_address'; readonly user_data: { readonly ip_address: string } }
  | { readonly user_type: 'geo_coordinates'; readonly user_data: { readonly latitude: number; readonly longitude: number } }

/** Injected into the container. */
export interface EnvironmentVariable {
  readonly key: string
  /** At most 4096 bytes (public fact). A secret if `is_hidden`. */
  readonly value: string
  readonly is_hidden: boolean
}

/** Called by the service with POST. Not retried, not signed (public facts): put an unguessable part in the URL, and confirm by reading. */
export interface Webhook {
  readonly url: string
}

/** Which fields are required is a public fact: application, version and at least one user. */
export interface CreateDeployment {
  readonly application: string
  readonly version: string
  /** At least one; the place is chosen from them. */
  readonly users: readonly DeploymentUser[]
  /** Only places that have the image cached. */
  readonly require_cached_locations?: boolean | undefined
  readonly environment_variables?: readonly EnvironmentVariable[] | undefined
  /** Each 1 to 40 characters (public fact). There is no idempotency key: a tag is what a create with a lost answer is found by. */
  readonly tags?: readonly string[] | undefined
  readonly webhook_on_ready?: Webhook | undefined
  readonly webhook_on_error?: Webhook | undefined
  readonly webhook_on_terminated?: Webhook | undefined
}

export interface DeploymentCreated {
  /** Identifies the deployment from now on. */
  readonly request_id: string
}

export interface DeploymentId {
  readonly request_id: string
}

/** Where the container's logs go when it stops: true, the storage of the version; false, nowhere; or a storage's name. */
export type ContainerLogStorage = boolean | string

export interface StopDeployment extends DeploymentId {
  /** The parameter's name is a setting. */
  readonly container_log_storage?: ContainerLogStorage | undefined
}

export interface SelfStopDeployment extends StopDeployment {
  readonly access_point_id: string
  /** The delete token injected into the container. Sent as it is, in place of the account's token. A secret. */
  readonly authorization: string
}

export interface DeploymentStopped {
  readonly message?: Maybe<string>
  readonly deployment_summary?: Maybe<Deployment>
}

export interface BulkStop {
  /** At least one (our choice: an empty list might stop everything). */
  readonly filters: readonly Filter[]
}

export interface BulkStopped {
  readonly processable: readonly { readonly request_id: string }[]
}

export interface DeploymentFilter {
  readonly field:
    | 'status'
    | 'request_id'
    | 'tags'
    | 'created_at'
    | 'application'
    | 'version'
    | 'is_joinable_by_session'
    | 'available_session_sockets'
    | (string & {})
  readonly operator: 'eq' | 'neq' | 'in' | 'nin' | 'lt' | 'lte' | 'gt' | 'gte' | (string & {})
  /** Statuses are in lower case here, e.g. 'ready'. A list for `in` and `nin`. */
  readonly value: string | number | boolean | readonly (string | number)[]
}

/** Filters and order of the deployment list; their form is a public fact. Some servers refuse two filters on one field. */
export interface DeploymentQuery {
  readonly filters?: readonly DeploymentFilter[] | undefined
  readonly order_by?: readonly { readonly field: string; readonly order: 'asc' | 'desc' }[] | undefined
}

export interface ListDeployments extends PageInput {
  /** Sent as JSON; the parameter's name is a setting. */
  readonly query?: DeploymentQuery | undefined
}

export interface DeploymentList {
  readonly data: readonly DeploymentListEntry[]
  readonly total_count?: Maybe<number>
  readonly pagination?: Maybe<Pagination>
  readonly message?: Maybe<readonly string[]>
}

/** Unavailable once the deployment is terminated. */
export interface ContainerLogs {
  readonly logs?: Maybe<string>
  readonly encoding?: Maybe<string>
  readonly crash_logs?: Maybe<string>
  readonly crash_data?: Maybe<{
    readonly exit_code?: Maybe<number>
    readonly message?: Maybe<string>
    readonly restart_count?: Maybe<number>
  }>
  readonly logs_link?: Maybe<string>
}

export interface ReadMetrics extends DeploymentId {
  /** 'YYYY-MM-DD HH:MM:SS.ffffff'; default: the deployment's start. */
  readonly start_time?: string | undefined
  /** The same format, later than `start_time`; default: now. */
  readonly end_time?: string | undefined
  /** Interval: a whole number of seconds, minutes or hours, such as 30s, 5m, 1h. */
  readonly steps?: string | undefined
  /** Raw data; default false. */
  readonly raw?: boolean | undefined
}

/** One measurement over time. Units are not shown. */
export interface MetricSeries {
  readonly labels?: Maybe<readonly string[]>
  readonly datasets?: Maybe<readonly string[]>
  /** 'YYYY-MM-DD HH:MM:SS.mmm' */
  readonly timestamps?: Maybe<readonly string[]>
}

export interface Metrics {
  readonly total?: Maybe<{
    readonly receive_total?: Maybe<MetricSeries>
    readonly transmit_total?: Maybe<MetricSeries>
    readonly disk_read_total?: Maybe<MetricSeries>
    readonly disk_write_total?: Maybe<MetricSeries>
  }>
  readonly cpu?: Maybe<MetricSeries>
  readonly mem?: Maybe<MetricSeries>
  readonly network?: Maybe<{ readonly receive?: Maybe<MetricSeries>; readonly transmit?: Maybe<MetricSeries> }>
}

const User: z.ZodType<DeploymentUser> = z.discriminatedUnion('user_type', [
  z.strictObject({ user_type: z.literal('ip_address'), user_data: z.strictObject({ ip_address: ipAddress }) }),
  z.strictObject({ user_type: z.literal('geo_coordinates'), user_data: z.strictObject({ latitude, longitude }) }),
])
export const EnvironmentVariable: z.ZodType<EnvironmentVariable> = z.strictObject({
  key: z.string().min(1),
  value: environmentValue,
  is_hidden: z.boolean(),
})
const Webhook: z.ZodType<Webhook> = z.strictObject({ url: httpUrl })

const CreateDeployment: z.ZodType<CreateDeployment> = z.strictObject({
  application: z.string().min(1),
  version: z.string().min(1),
  users: z.array(User).min(1),
  require_cached_locations: z.boolean().optional(),
  environment_variables: z.array(EnvironmentVariable).optional(),
  tags: z.array(tagName).optional(),
  webhook_on_ready: Webhook.optional(),
  webhook_on_error: Webhook.optional(),
  webhook_on_terminated: Webhook.optional(),
})

const DeploymentId: z.ZodType<DeploymentId> = z.strictObject({ request_id: segment })
const containerLogStorage = z.union([z.boolean(), z.string().min(1)], { error: 'must be true, false or the name of a storage' }).optional()
const StopDeployment: z.ZodType<StopDeployment> = z.strictObject({
  request_id: segment,
  container_log_storage: containerLogStorage,
})
const SelfStopDeployment: z.ZodType<SelfStopDeployment> = z.strictObject({
  request_id: segment,
  access_point_id: segment,
  authorization: secret,
  container_log_storage: containerLogStorage,
})
const DeploymentCreated: z.ZodType<DeploymentCreated> = z.looseObject({ request_id: z.string().min(1) })
const DeploymentStopped: z.ZodType<DeploymentStopped> = z.looseObject({
  message: maybe(text),
  deployment_summary: maybe(Deployment),
})
const BulkStop: z.ZodType<BulkStop> = z.strictObject({ filters: z.array(FilterInput).min(1) })
const BulkStopped: z.ZodType<BulkStopped> = z.looseObject({ processable: z.array(z.looseObject({ request_id: text })) })

const ListDeployments: z.ZodType<ListDeployments> = z.strictObject({
  query: z
    .strictObject({
      filters: z
        .array(
          z.strictObject({
            field: z.string().min(1),
            operator: z.string().min(1),
            value: z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]),
          }),
        )
        .optional(),
      order_by: z.array(z.strictObject({ field: z.string().min(1), order: z.enum(['asc', 'desc']) })).optional(),
    })
    .optional(),
  ...page,
})
const DeploymentList: z.ZodType<DeploymentList> = z.looseObject({
  data: z.array(DeploymentListEntry),
  total_count: maybe(integer),
  pagination: maybe(Pagination),
  message: maybe(z.array(text)),
})

const ContainerLogs: z.ZodType<ContainerLogs> = z.looseObject({
  logs: maybe(text),
  encoding: maybe(text),
  crash_logs: maybe(text),
  crash_data: maybe(
    z.looseObject({ exit_code: maybe(integer), message: maybe(text), restart_count: maybe(integer) }),
  ),
  logs_link: maybe(text),
})

const metricsTime = z.string().regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{1,6}$/, 'must look like 2026-01-31 08:15:30.250000')
/** Compares two texts of one fixed-width format, the fraction padded. */
const sortable = (time: string) => time.padEnd(26, '0')
const ReadMetrics: z.ZodType<ReadMetrics> = z
  .strictObject({
    request_id: segment,
    start_time: metricsTime.optional(),
    end_time: metricsTime.optional(),
    steps: z
      .string()
      .regex(/^[1-9]\d*[smh]$/, 'must be a whole number of seconds, minutes or hours such as 30s, 5m, 1h')
      .optional(),
    raw: z.boolean().optional(),
  })
  .refine(
    ({ start_time, end_time }) =>
      start_time === undefined || end_time === undefined || sortable(end_time) > sortable(start_time),
    { path: ['end_time'], error: 'must be later than start_time' },
  )

const MetricSeries: z.ZodType<MetricSeries> = z.looseObject({
  labels: maybe(z.array(text)),
  datasets: maybe(z.array(text)),
  timestamps: maybe(z.array(text)),
})
const series = maybe(MetricSeries)
const Metrics: z.ZodType<Metrics> = z.looseObject({
  total: maybe(
    z.looseObject({ receive_total: series, transmit_total: series, disk_read_total: series, disk_write_total: series }),
  ),
  cpu: series,
  mem: series,
  network: maybe(z.looseObject({ receive: series, transmit: series })),
})

export const deployments = {
  create: operation('POST /deployments', {
    summary: 'Deploy a server of an application version near the users',
    input: CreateDeployment,
    output: DeploymentCreated,
    success: [202],
    errors: [400, 401, 422, 500],
    limit: limits.createDeployment,
    open: { path: 'createDeploymentPath' },
  }),
  get: operation('GET /v1/status/{request_id}', {
    summary: 'Read the status of a deployment',
    input: DeploymentId,
    output: Deployment,
    errors: [400, 401, 500],
    limit: limits.status,
  }),
  stop: operation('DELETE /v1/stop/{request_id}', {
    summary: 'Stop a deployment: at once when READY or ERROR (200), else as soon as it is (202)',
    input: StopDeployment,
    output: DeploymentStopped,
    success: [200, 202],
    errors: [400, 401, 403, 404, 410, 500],
    open: { container_log_storage: 'containerLogStorageParameter' },
  }),
  selfStop: operation('DELETE /v1/self/stop/{request_id}/{access_point_id}', {
    summary: 'Stop the deployment from inside its container, with its own delete token',
    input: SelfStopDeployment,
    output: DeploymentStopped,
    success: [200, 202],
    errors: [400, 401, 403, 404, 410, 500],
    auth: 'delete-token',
    headers: { authorization: 'authorization' },
    open: { container_log_storage: 'containerLogStorageParameter' },
  }),
  bulkStop: operation('POST /v1/deployments/bulk-stop', {
    summary: 'Stop every deployment that matches the filters',
    input: BulkStop,
    output: BulkStopped,
    success: [202],
    errors: [400, 401, 500],
  }),
  list: operation('GET /v1/deployments', {
    summary: 'List deployments by filter and order',
    input: ListDeployments,
    output: DeploymentList,
    errors: [400, 401, 500],
    limit: limits.listDeployments,
    items: 'data',
    open: { query: 'deploymentQueryParameter' },
  }),
  logs: operation('GET /v1/deployment/{request_id}/container-logs', {
    summary: "Read a running deployment's container logs",
    input: DeploymentId,
    output: ContainerLogs,
    errors: [400, 401, 404, 500],
  }),
  metrics: operation('GET /v1/metrics/deployment/{request_id}', {
    summary: "Read a deployment's metrics",
    input: ReadMetrics,
    output: Metrics,
    errors: [400, 401, 404, 422, 500],
  }),
} as const
