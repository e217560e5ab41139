import { z } from 'zod'
import { operation } from '../operation.js'
import {
  decimal,
  Filter,
  FilterEcho,
  flag,
  headerText,
  integer,
  maybe,
  Message,
  named,
  page,
  Pagination,
  segment,
  text,
  timestampA,
  type Masked,
  type Maybe,
  type PageInput,
  type TimestampA,
} from './fields.js'
import type { FleetName } from './fleets.js'

/** What a policy and its update have in common. */
export interface FleetPolicyChanges {
  /** Whether the policy is followed; default true. */
  readonly enabled?: boolean | undefined
  /** Sampled as Location; public facts: Location, Tag, Coordinates. */
  readonly type?: 'Location' | 'Tag' | 'Coordinates' | (string & {}) | undefined
  /** How many deployments there are at all times, at least. */
  readonly minimum?: number | undefined
  /** How many deployments there are for the type, at most. */
  readonly maximum?: number | undefined
  /** How full a session deployment must be, by connected sockets, before another is deployed. 0.1 to 1. */
  readonly threshold?: number | undefined
  /** What the type goes by. */
  readonly data?:
    | {
        /** Where the deployments may be. */
        readonly filters?: readonly Filter[] | undefined
      }
    | undefined
}

/**
 * The specification does not show which fields are required. The name is, by our choice: nothing can be addressed
 * without one.
 */
export interface CreateFleetPolicy extends FleetName, FleetPolicyChanges {
  /** Unique in its fleet (our choice). */
  readonly name: string
}

/** Names a policy of a fleet. */
export interface FleetPolicyName extends FleetName {
  /** The policy's name. */
  readonly policy_name: string
}

/** Fields that are left out stay unchanged. */
export interface UpdateFleetPolicy extends FleetPolicyName, FleetPolicyChanges {
  /** A new name. */
  readonly name?: string | undefined
}

/** Which policies of which fleet. */
export interface ListFleetPolicies extends FleetName, PageInput {
  /**
   * Mask of fields, e.g. `policies{name,minimum},pagination` (header X-Fields). What it leaves out is missing from the
   * answer.
   */
  readonly x_fields?: string | undefined
}

/** How many deployments a fleet keeps, and where (service-api, Fleet policy). */
export interface FleetPolicy {
  /** Its name, which paths use too. */
  readonly name: string
  /** Whether the policy is followed. */
  readonly enabled?: Maybe<boolean>
  /** Sampled as Location; public facts: Location, Tag, Coordinates. */
  readonly type?: Maybe<string>
  /** How many deployments there are at all times, at least. */
  readonly minimum?: Maybe<number>
  /** How many deployments there are for the type, at most. */
  readonly maximum?: Maybe<number>
  /** How full a session deployment must be, by connected sockets, before another is deployed. 0.1 to 1. */
  readonly threshold?: Maybe<number>
  /** What the type goes by. */
  readonly data?: Maybe<{
    /** Where the deployments may be. */
    readonly filters?: Maybe<readonly FilterEcho[]>
  }>
  /** Format A. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A. */
  readonly last_updated?: Maybe<TimestampA>
}

/** The policies of a fleet. */
export interface FleetPolicyList {
  /** The entries of this page. With `x_fields`, only the fields of the mask. */
  readonly policies?: Maybe<readonly Masked<FleetPolicy>[]>
  /** The position of this page in the list. */
  readonly pagination?: Maybe<Pagination>
}

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
export const FleetPolicy = named<FleetPolicy>('FleetPolicy', z.looseObject({ name: text, ...policyFields }))
const FleetPolicyList = named<FleetPolicyList>(
  'FleetPolicyList',
  z.looseObject({
    policies: maybe(z.array(z.looseObject({ name: maybe(text), ...policyFields }))),
    pagination: maybe(Pagination),
  }),
)

const policyChanges = {
  enabled: z.boolean().optional(),
  type: z.string().min(1).optional(),
  minimum: z.int().min(0).optional(),
  maximum: z.int().min(0).optional(),
  threshold: z.number().min(0.1).max(1).optional(),
  data: z.strictObject({ filters: z.array(Filter).optional() }).optional(),
}
const CreateFleetPolicy = named<CreateFleetPolicy>(
  'CreateFleetPolicy',
  z.strictObject({
    fleet_name: segment,
    name: z.string().min(1),
    ...policyChanges,
  }),
)
const UpdateFleetPolicy = named<UpdateFleetPolicy>(
  'UpdateFleetPolicy',
  z.strictObject({
    fleet_name: segment,
    policy_name: segment,
    name: z.string().min(1).optional(),
    ...policyChanges,
  }),
)
const FleetPolicyName = named<FleetPolicyName>(
  'FleetPolicyName',
  z.strictObject({ fleet_name: segment, policy_name: segment }),
)
const ListFleetPolicies = named<ListFleetPolicies>(
  'ListFleetPolicies',
  z.strictObject({
    fleet_name: segment,
    ...page,
    x_fields: headerText.optional(),
  }),
)

export const policies = {
  /**
   * Create a policy of a fleet.
   * Route: `POST /v1/fleet/{fleet_name}/policies`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets; required fields by our choice.
   */
  create: operation('POST /v1/fleet/{fleet_name}/policies', {
    summary: 'Create a policy of a fleet',
    input: CreateFleetPolicy,
    output: FleetPolicy,
    errors: [400, 401, 404, 500],
  }),
  /**
   * List the policies of a fleet.
   * Route: `GET /v1/fleet/{fleet_name}/policies`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  list: operation('GET /v1/fleet/{fleet_name}/policies', {
    summary: 'List the policies of a fleet',
    input: ListFleetPolicies,
    output: FleetPolicyList,
    errors: [400, 401, 404, 500],
    headers: { x_fields: 'X-Fields' },
    items: 'policies',
  }),
  /**
   * Read a policy of a fleet.
   * Route: `GET /v1/fleet/{fleet_name}/policies/{policy_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  get: operation('GET /v1/fleet/{fleet_name}/policies/{policy_name}', {
    summary: 'Read a policy of a fleet',
    input: FleetPolicyName,
    output: FleetPolicy,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Change a policy of a fleet.
   * Route: `PATCH /v1/fleet/{fleet_name}/policies/{policy_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  update: operation('PATCH /v1/fleet/{fleet_name}/policies/{policy_name}', {
    summary: 'Change a policy of a fleet',
    input: UpdateFleetPolicy,
    output: FleetPolicy,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Delete a policy; the fleet stays.
   * Route: `DELETE /v1/fleet/{fleet_name}/policies/{policy_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  delete: operation('DELETE /v1/fleet/{fleet_name}/policies/{policy_name}', {
    summary: 'Delete a policy; the fleet stays',
    input: FleetPolicyName,
    output: Message,
    errors: [400, 401, 404, 500],
  }),
} as const
