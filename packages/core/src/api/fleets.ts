import { z } from 'zod'
import { operation } from '../operation.js'
import {
  decimal,
  FilterEcho,
  FilterInput,
  flag,
  integer,
  maybe,
  Message,
  page,
  Pagination,
  segment,
  text,
  timestampA,
  type Filter,
  type Masked,
  type Maybe,
  type PageInput,
  type TimestampA,
} from './fields.js'

/** Creates deployments of the versions linked to it, as its policies say (service-api, Fleet). */
export interface Fleet {
  readonly name: string
  readonly enabled?: Maybe<boolean>
  /** Format A. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A. */
  readonly last_updated?: Maybe<TimestampA>
}

export interface CreateFleet {
  readonly name: string
  /** Default false. */
  readonly enabled?: boolean | undefined
}

export interface FleetName {
  readonly fleet_name: string
}

export interface UpdateFleet extends FleetName {
  /** A new name. */
  readonly name?: string | undefined
  readonly enabled?: boolean | undefined
}

export interface FleetList {
  readonly fleets: readonly Fleet[]
  readonly pagination?: Maybe<Pagination>
}

export interface FleetVersionName extends FleetName {
  readonly app_name: string
  readonly version_name: string
}

/** The first three are names. */
export interface FleetLink {
  readonly app?: Maybe<string>
  readonly app_version?: Maybe<string>
  readonly fleet?: Maybe<string>
  /** Format A. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A. */
  readonly last_updated?: Maybe<TimestampA>
}

export interface FleetPolicyChanges {
  /** Default true. */
  readonly enabled?: boolean | undefined
  /** Sampled as Location; public facts: Location, Tag, Coordinates. */
  readonly type?: 'Location' | 'Tag' | 'Coordinates' | (string & {}) | undefined
  /** Deployments at all times, at least. */
  readonly minimum?: number | undefined
  /** Deployments for the type, at most. */
  readonly maximum?: number | undefined
  /** How full a session deployment must be, by connected sockets, before another is deployed. 0.1 to 1. */
  readonly threshold?: number | undefined
  readonly data?: { readonly filters?: readonly Filter[] | undefined } | undefined
}

export interface CreateFleetPolicy extends FleetName, FleetPolicyChanges {
  readonly name: string
}

export interface FleetPolicyName extends FleetName {
  readonly policy_name: string
}

export interface UpdateFleetPolicy extends FleetPolicyName, FleetPolicyChanges {
  /** A new name. */
  readonly name?: string | undefined
}

export interface ListFleetPolicies extends FleetName, PageInput {
  /** Mask of fields, e.g. `policies{name,minimum},pagination` (header X-Fields). What it leaves out is missing from the answer. */
  readonly x_fields?: string | undefined
}

export interface FleetPolicy {
  readonly name: string
  readonly enabled?: Maybe<boolean>
  readonly type?: Maybe<string>
  readonly minimum?: Maybe<number>
  readonly maximum?: Maybe<number>
  readonly threshold?: Maybe<number>
  readonly data?: Maybe<{ readonly filters?: Maybe<readonly FilterEcho[]> }>
  /** Format A. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A. */
  readonly last_updated?: Maybe<TimestampA>
}

export interface FleetPolicyList {
  readonly policies?: Maybe<readonly Masked<FleetPolicy>[]>
  readonly pagination?: Maybe<Pagination>
}

export const Fleet: z.ZodType<Fleet> = z.looseObject({
  name: text,
  enabled: maybe(flag),
  create_time: maybe(timestampA),
  last_updated: maybe(timestampA),
})
const FleetList: z.ZodType<FleetList> = z.looseObject({ fleets: z.array(Fleet), pagination: maybe(Pagination) })
export const FleetLink: z.ZodType<FleetLink> = z.looseObject({
  app: maybe(text),
  app_version: maybe(text),
  fleet: maybe(text),
  create_time: maybe(timestampA),
  last_updated: maybe(timestampA),
})

const policyFields = {
  enabled: maybe(flag),
  type: maybe(text),
  minimum: maybe(integer),
  maximum: maybe(integer),
  threshold: maybe(decimal),
  data: maybe(z.looseObject({ filters: maybe(z.array(FilterEcho)) })),
  create_time: maybe(timestampA),
  last_updated: maybe(timestampA),
}
export const FleetPolicy: z.ZodType<FleetPolicy> = z.looseObject({ name: text, ...policyFields })
const FleetPolicyList: z.ZodType<FleetPolicyList> = z.looseObject({
  policies: maybe(z.array(z.looseObject({ name: maybe(text), ...policyFields }))),
  pagination: maybe(Pagination),
})

const CreateFleet: z.ZodType<CreateFleet> = z.strictObject({ name: z.string().min(1), enabled: z.boolean().optional() })
const UpdateFleet: z.ZodType<UpdateFleet> = z.strictObject({
  fleet_name: segment,
  name: z.string().min(1).optional(),
  enabled: z.boolean().optional(),
})
const FleetName: z.ZodType<FleetName> = z.strictObject({ fleet_name: segment })
const FleetVersionName: z.ZodType<FleetVersionName> = z.strictObject({
  fleet_name: segment,
  app_name: segment,
  version_name: segment,
})
const policyChanges = {
  enabled: z.boolean().optional(),
  type: z.string().min(1).optional(),
  minimum: z.int().min(0).optional(),
  maximum: z.int().min(0).optional(),
  threshold: z.number().min(0.1).max(1).optional(),
  data: z.strictObject({ filters: z.array(FilterInput).optional() }).optional(),
}
const CreateFleetPolicy: z.ZodType<CreateFleetPolicy> = z.strictObject({
  fleet_name: segment,
  name: z.string().min(1),
  ...policyChanges,
})
const UpdateFleetPolicy: z.ZodType<UpdateFleetPolicy> = z.strictObject({
  fleet_name: segment,
  policy_name: segment,
  name: z.string().min(1).optional(),
  ...policyChanges,
})
const FleetPolicyName: z.ZodType<FleetPolicyName> = z.strictObject({ fleet_name: segment, policy_name: segment })
const ListFleets: z.ZodType<PageInput> = z.strictObject(page)
const ListFleetPolicies: z.ZodType<ListFleetPolicies> = z.strictObject({
  fleet_name: segment,
  ...page,
  x_fields: z.string().min(1).optional(),
})

export const fleets = {
  create: operation('POST /v1/fleet', {
    summary: 'Create a fleet',
    input: CreateFleet,
    output: Fleet,
    errors: [400, 401, 500],
  }),
  get: operation('GET /v1/fleet/{fleet_name}', {
    summary: 'Read a fleet',
    input: FleetName,
    output: Fleet,
    errors: [400, 401, 404, 500],
  }),
  update: operation('PATCH /v1/fleet/{fleet_name}', {
    summary: 'Change a fleet',
    input: UpdateFleet,
    output: Fleet,
    errors: [400, 401, 404, 500],
  }),
  delete: operation('DELETE /v1/fleet/{fleet_name}', {
    summary: 'Delete a fleet, its policies and its links to versions',
    input: FleetName,
    output: Message,
    errors: [400, 401, 404, 500],
  }),
  list: operation('GET /v1/fleets', {
    summary: 'List fleets',
    input: ListFleets,
    output: FleetList,
    errors: [400, 401, 500],
    items: 'fleets',
  }),
  link: operation('PUT /v1/fleet/{fleet_name}/app/{app_name}/version/{version_name}', {
    summary: 'Link a version to a fleet, which then deploys it per its policies',
    input: FleetVersionName,
    output: FleetLink,
    errors: [400, 401, 404, 500],
  }),
  unlink: operation('DELETE /v1/fleet/{fleet_name}/app/{app_name}/version/{version_name}', {
    summary: 'Unlink a version from a fleet; both stay',
    input: FleetVersionName,
    errors: [400, 401, 404, 500],
  }),
} as const

export const policies = {
  create: operation('POST /v1/fleet/{fleet_name}/policies', {
    summary: 'Create a policy of a fleet',
    input: CreateFleetPolicy,
    output: FleetPolicy,
    errors: [400, 401, 404, 500],
  }),
  list: operation('GET /v1/fleet/{fleet_name}/policies', {
    summary: 'List the policies of a fleet',
    input: ListFleetPolicies,
    output: FleetPolicyList,
    errors: [400, 401, 404, 500],
    headers: { x_fields: 'X-Fields' },
    items: 'policies',
  }),
  get: operation('GET /v1/fleet/{fleet_name}/policies/{policy_name}', {
    summary: 'Read a policy of a fleet',
    input: FleetPolicyName,
    output: FleetPolicy,
    errors: [400, 401, 404, 500],
  }),
  update: operation('PATCH /v1/fleet/{fleet_name}/policies/{policy_name}', {
    summary: 'Change a policy of a fleet',
    input: UpdateFleetPolicy,
    output: FleetPolicy,
    errors: [400, 401, 404, 500],
  }),
  delete: operation('DELETE /v1/fleet/{fleet_name}/policies/{policy_name}', {
    summary: 'Delete a policy; the fleet stays',
    input: FleetPolicyName,
    output: Message,
    errors: [400, 401, 404, 500],
  }),
} as const
