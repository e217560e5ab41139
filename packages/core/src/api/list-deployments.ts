import { z } from 'zod'
import { DeploymentListEntry } from './deployment.js'
import { integer, maybe, named, page, Pagination, text, type Maybe, type PageInput } from './fields.js'

/** One condition of the deployment list (its form is a public fact). */
export interface DeploymentFilter {
  /** What is compared. */
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
  /** How it is compared. */
  readonly operator: 'eq' | 'neq' | 'in' | 'nin' | 'lt' | 'lte' | 'gt' | 'gte' | (string & {})
  /** What it is compared with. Statuses are in lower case here, e.g. 'ready'. A list for `in` and `nin`. */
  readonly value: string | number | boolean | readonly (string | number)[]
}

/**
 * Filters and order of the deployment list; their form is a public fact. Some servers refuse two filters on one field.
 */
export interface DeploymentQuery {
  /** Conditions that must all hold. */
  readonly filters?: readonly DeploymentFilter[] | undefined
  /** Sort keys: the first decides, and the next among equals. */
  readonly order_by?:
    | readonly {
        /** What is compared, as in a filter. */
        readonly field: string
        /** Ascending or descending. */
        readonly order: 'asc' | 'desc'
      }[]
    | undefined
}

/** Which deployments, in which order. `page` and `limit` are accepted (public fact). */
export interface ListDeployments extends PageInput {
  /** Filters and order. Sent as JSON; the parameter's name is a setting. */
  readonly query?: DeploymentQuery | undefined
}

/** The deployments found. */
export interface DeploymentList {
  /** The entries of this page. */
  readonly data: readonly DeploymentListEntry[]
  /** Number of all entries. */
  readonly total_count?: Maybe<number>
  /** The position of this page in the list. */
  readonly pagination?: Maybe<Pagination>
  /** Remarks of the service. */
  readonly message?: Maybe<readonly string[]>
}

const DeploymentFilter = named<DeploymentFilter>(
  'DeploymentFilter',
  z.strictObject({
    field: z.string().min(1),
    operator: z.string().min(1),
    value: z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]),
  }),
)
const DeploymentQuery = named<DeploymentQuery>(
  'DeploymentQuery',
  z.strictObject({
    filters: z.array(DeploymentFilter).optional(),
    order_by: z.array(z.strictObject({ field: z.string().min(1), order: z.enum(['asc', 'desc']) })).optional(),
  }),
)
export const ListDeployments = named<ListDeployments>(
  'ListDeployments',
  z.strictObject({ query: DeploymentQuery.optional(), ...page }),
)

export const DeploymentList = named<DeploymentList>(
  'DeploymentList',
  z.looseObject({
    data: z.array(DeploymentListEntry),
    total_count: maybe(integer),
    pagination: maybe(Pagination),
    message: maybe(z.array(text)),
  }),
)
