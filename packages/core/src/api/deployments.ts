import { z } from 'zod'
import { operation } from '../operation.js'
import {
  BulkStop,
  BulkStopped,
  Deployment,
  DeploymentId,
  DeploymentListEntry,
  DeploymentStopped,
  SelfStopDeployment,
  StopDeployment,
} from './deployment.js'
import {
  answer,
  type Counted,
  counted,
  environmentValue,
  httpUrl,
  input,
  integer,
  ipAddress,
  latitude,
  longitude,
  maybe,
  type Maybe,
  named,
  names,
  page,
  type PageInput,
  segment,
  tagName,
  text,
} from './fields.js'
import { limits } from './documented-limits.js'
import { Metrics, ReadMetrics } from './metrics.js'

/** A player near whom the server is placed. */
export type DeploymentUser = UserAtAddress | UserAtCoordinates

/** A player located by address. */
export interface UserAtAddress {
  /** The kind of `user_data`. */
  readonly user_type: 'ip_address'
  /** The player's location. */
  readonly user_data: {
    /** The player's public address. */
    readonly ip_address: string
  }
}

/** A player located by coordinates. */
export interface UserAtCoordinates {
  /** The kind of `user_data`. */
  readonly user_type: 'geo_coordinates'
  /** The player's location. */
  readonly user_data: {
    /** Latitude in degrees. */
    readonly latitude: number
    /** Longitude in degrees. */
    readonly longitude: number
  }
}

/** An environment variable that is injected into the container. */
export interface EnvironmentVariable {
  /** Name of the variable in the container. */
  readonly key: string
  /** Value of the variable, at most 4096 bytes (public fact). It is a secret if `is_hidden` is true. */
  readonly value: string
  /** Whether the value is a secret. */
  readonly is_hidden: boolean
}

/**
 * A URL that the service calls with POST. Calls are neither retried nor signed (public facts). Use an unguessable URL,
 * and read the deployment to confirm.
 */
export interface Webhook {
  /** http or https URL. */
  readonly url: string
}

/** The deployment to create. Application, version and at least one user are required (public fact). */
export interface CreateDeployment {
  /** The application to deploy. */
  readonly application: string
  /** The version to deploy. */
  readonly version: string
  /** Players, at least one. The service chooses the location from them. */
  readonly users: readonly DeploymentUser[]
  /** True limits the placement to locations that have the image cached. */
  readonly require_cached_locations?: boolean | undefined
  /** Variables that are injected into the container, in addition to those of the version. */
  readonly environment_variables?: readonly EnvironmentVariable[] | undefined
  /**
   * Tags of the deployment, each of 1 to 40 characters (public fact). There is no idempotency key: if the response to a
   * create is lost, its deployment can be found only by a tag.
   */
  readonly tags?: readonly string[] | undefined
  /** Called when the deployment is ready. */
  readonly webhook_on_ready?: Webhook | undefined
  /** Called when the deployment is in error. */
  readonly webhook_on_error?: Webhook | undefined
  /** Called when the deployment is terminated. */
  readonly webhook_on_terminated?: Webhook | undefined
}

/** An accepted deployment: the service starts to look for a location. */
export interface DeploymentCreated {
  /** The id of the deployment. */
  readonly request_id: string
}

// Not created by `named`, because the union must see the type of `user_type`, which distinguishes its members.
const UserAtAddress = z
  .strictObject({
    user_type: z.literal('ip_address'),
    user_data: z.strictObject({ ip_address: ipAddress }),
  })
  .register(names, { id: 'UserAtAddress' })
const UserAtCoordinates = z
  .strictObject({
    user_type: z.literal('geo_coordinates'),
    user_data: z.strictObject({ latitude, longitude }),
  })
  .register(names, { id: 'UserAtCoordinates' })
const DeploymentUser = named<DeploymentUser>(
  'DeploymentUser',
  z.discriminatedUnion('user_type', [UserAtAddress, UserAtCoordinates]),
)

export const EnvironmentVariable = input<EnvironmentVariable>('EnvironmentVariable', {
  key: z.string().min(1),
  value: environmentValue,
  is_hidden: z.boolean(),
})
const Webhook = input<Webhook>('Webhook', { url: httpUrl })

export const CreateDeployment = input<CreateDeployment>('CreateDeployment', {
  application: z.string().min(1),
  version: z.string().min(1),
  users: z.array(DeploymentUser).min(1),
  require_cached_locations: z.boolean().optional(),
  environment_variables: z.array(EnvironmentVariable).optional(),
  tags: z.array(tagName).optional(),
  webhook_on_ready: Webhook.optional(),
  webhook_on_error: Webhook.optional(),
  webhook_on_terminated: Webhook.optional(),
})

export const DeploymentCreated = answer<DeploymentCreated>('DeploymentCreated', { request_id: z.string().min(1) })

/** One condition of the deployment list, in the form that public documents show (public fact). */
export interface DeploymentFilter {
  /** The compared field. */
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
  /** How the field is compared. */
  readonly operator: 'eq' | 'neq' | 'in' | 'nin' | 'lt' | 'lte' | 'gt' | 'gte' | (string & {})
  /** The value to compare with. Statuses are in lower case here, e.g. 'ready'. A list for `in` and `nin`. */
  readonly value: string | number | boolean | readonly (string | number)[]
}

/**
 * Filters and order of the deployment list, in the form that public documents show (public fact). Some servers reject
 * two filters on one field.
 */
export interface DeploymentQuery {
  /** Conditions that must all hold. */
  readonly filters?: readonly DeploymentFilter[] | undefined
  /** Sort keys: the first decides. Each further key decides among entries that are equal so far. */
  readonly order_by?:
    | readonly {
        /** The field to sort by, as in a filter. */
        readonly field: string
        /** Ascending or descending. */
        readonly order: 'asc' | 'desc'
      }[]
    | undefined
}

/** The deployments to list, and their order. The service accepts `page` and `limit` (public fact). */
export interface ListDeployments extends PageInput {
  /** Filters and order. Sent as JSON; the parameter's name is a setting. */
  readonly query?: DeploymentQuery | undefined
}

/** The deployments that match the query. */
export interface DeploymentList extends Counted {
  /** The entries of this page. */
  readonly data: readonly DeploymentListEntry[]
  /** Messages of the service about the list. */
  readonly message?: Maybe<readonly string[]>
}

const DeploymentFilter = input<DeploymentFilter>('DeploymentFilter', {
  field: z.string().min(1),
  operator: z.string().min(1),
  value: z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]),
})
const DeploymentQuery = input<DeploymentQuery>('DeploymentQuery', {
  filters: z.array(DeploymentFilter).optional(),
  order_by: z.array(z.strictObject({ field: z.string().min(1), order: z.enum(['asc', 'desc']) })).optional(),
})
export const ListDeployments = input<ListDeployments>('ListDeployments', { query: DeploymentQuery.optional(), ...page })

export const DeploymentList = answer<DeploymentList>('DeploymentList', {
  data: z.array(DeploymentListEntry),
  ...counted,
  message: maybe(z.array(text)),
})

/** The deployment whose logs to read, and their format. */
export interface ReadContainerLogs extends DeploymentId {
  /**
   * Format of the logs. A public deployment accepts the parameter, but its values are not documented, so it is sent
   * only if given.
   */
  readonly format?: string | undefined
}

/** The container's output (service-api, Container logs). It is unavailable once the deployment is terminated. */
export interface ContainerLogs {
  /** The output in the given `encoding`. */
  readonly logs?: Maybe<string>
  /** The values of `encoding` are not documented; utf-8 in the emulator. */
  readonly encoding?: Maybe<string>
  /** The output of the run that crashed. */
  readonly crash_logs?: Maybe<string>
  /** How the container crashed. */
  readonly crash_data?: Maybe<{
    /** Exit code of the process. */
    readonly exit_code?: Maybe<number>
    /** A message for people. */
    readonly message?: Maybe<string>
    /** Number of restarts of the container. */
    readonly restart_count?: Maybe<number>
  }>
  /** The URL of the output. */
  readonly logs_link?: Maybe<string>
}

const ReadContainerLogs = input<ReadContainerLogs>('ReadContainerLogs', {
  request_id: segment,
  format: z.string().min(1).optional(),
})
export const ContainerLogs = answer<ContainerLogs>('ContainerLogs', {
  logs: maybe(text),
  encoding: maybe(text),
  crash_logs: maybe(text),
  crash_data: maybe(z.looseObject({ exit_code: maybe(integer), message: maybe(text), restart_count: maybe(integer) })),
  logs_link: maybe(text),
})

export const deployments = {
  /**
   * Deploy a server of an application version near the users.
   * Route: `POST /deployments`.
   * Limit: 40 per second. Errors: `NoCapacity` (422).
   * `NoCapacity` with a `requestId` names a deployment in error. Stop it, because it may cost money. A create whose
   * response was lost is not repeated, because there is no idempotency key. Its server can be found by its tags.
   * Source: service-api, Deployments; errors: public fact, required fields: public fact.
   */
  create: operation('POST /deployments', {
    summary: 'Deploy a server of an application version near the users',
    input: CreateDeployment,
    output: DeploymentCreated,
    success: [202],
    errors: [400, 401, 422, 500],
    limit: limits.createDeployment,
    open: { path: 'createDeploymentPath' },
  }),
  /**
   * Read the status of a deployment.
   * Route: `GET /v1/status/{request_id}`.
   * Limit: 20 per second. Errors: those of every call.
   * An unknown deployment is `NotFound`, although the service answers 400 (public fact).
   * Source: service-api, Deployments.
   */
  get: operation('GET /v1/status/{request_id}', {
    summary: 'Read the status of a deployment',
    input: DeploymentId,
    output: Deployment,
    errors: [400, 401, 500],
    limit: limits.status,
  }),
  /**
   * Stop a deployment: at once when READY or ERROR (200), else as soon as it is (202).
   * Route: `DELETE /v1/stop/{request_id}`.
   * Limit: none documented. Errors: `Forbidden` (403), `NotFound` (404), `AlreadyTerminated` (410).
   * `AlreadyTerminated` means that the deployment has already ended.
   * Source: service-api, Deployments; errors: public fact.
   */
  stop: operation('DELETE /v1/stop/{request_id}', {
    summary: 'Stop a deployment: at once when READY or ERROR (200), else as soon as it is (202)',
    input: StopDeployment,
    output: DeploymentStopped,
    success: [200, 202],
    errors: [400, 401, 403, 404, 410, 500],
    open: { container_log_storage: 'containerLogStorageParameter' },
  }),
  /**
   * Stop the deployment from inside its container, with its own delete token.
   * Route: `DELETE /v1/self/stop/{request_id}/{access_point_id}`.
   * Limit: none documented. Errors: `Forbidden` (403), `NotFound` (404), `AlreadyTerminated` (410).
   * `AlreadyTerminated` means that the deployment has already ended. In a container use `selfStop()`, which needs no
   * client.
   * Source: service-api, Deployments; errors: public fact.
   */
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
  /**
   * Stop every deployment that matches the filters.
   * Route: `POST /v1/deployments/bulk-stop`.
   * Limit: none documented. Errors: those of every call.
   * The stop is permanent. To see beforehand which deployments would match, list them with the same filters.
   * Source: service-api, Deployments; required fields: our choice.
   */
  bulkStop: operation('POST /v1/deployments/bulk-stop', {
    summary: 'Stop every deployment that matches the filters',
    input: BulkStop,
    output: BulkStopped,
    success: [202],
    errors: [400, 401, 500],
  }),
  /**
   * List deployments by filter and order.
   * Route: `GET /v1/deployments`.
   * Limit: 10 per second. Errors: those of every call.
   * Pages are small, whatever `limit` is requested. `.all()` follows them.
   * Source: service-api, Deployments.
   */
  list: operation('GET /v1/deployments', {
    summary: 'List deployments by filter and order',
    input: ListDeployments,
    output: DeploymentList,
    errors: [400, 401, 500],
    limit: limits.listDeployments,
    items: 'data',
    open: { query: 'deploymentQueryParameter' },
  }),
  /**
   * Read a running deployment's container logs.
   * Route: `GET /v1/deployment/{request_id}/container-logs`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Available only until the deployment is terminated.
   * Source: service-api, Deployments.
   */
  logs: operation('GET /v1/deployment/{request_id}/container-logs', {
    summary: "Read a running deployment's container logs",
    input: ReadContainerLogs,
    output: ContainerLogs,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Read a deployment's metrics.
   * Route: `GET /v1/metrics/deployment/{request_id}`.
   * Limit: none documented. Errors: `NotFound` (404), `InvalidInput` (422).
   * Source: service-api, Deployments.
   */
  metrics: operation('GET /v1/metrics/deployment/{request_id}', {
    summary: "Read a deployment's metrics",
    input: ReadMetrics,
    output: Metrics,
    errors: [400, 401, 404, 422, 500],
  }),
} as const
