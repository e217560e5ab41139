import { z } from 'zod'
import { operation } from '../operation.js'
import {
  answer,
  decimal,
  Filter,
  FilterEcho,
  flag,
  headerText,
  input,
  integer,
  type Masked,
  maybe,
  type Maybe,
  Message,
  page,
  paged,
  type Paged,
  PageInput,
  segment,
  type Stamped,
  stamps,
  text,
} from './fields.js'

/** The common fields of a policy and its update. */
export interface FleetPolicyChanges {
  /** True if the policy is active. Default true. */
  readonly enabled?: boolean | undefined
  /** Type of the policy. The specification's sample has Location; public facts: Location, Tag, Coordinates. */
  readonly type?: 'Location' | 'Tag' | 'Coordinates' | (string & {}) | undefined
  /** Minimum number of deployments at all times. */
  readonly minimum?: number | undefined
  /** Maximum number of deployments for the type. */
  readonly maximum?: number | undefined
  /**
   * Share of connected sockets, 0.1 to 1. From this share on, a session deployment is so full that another one is
   * deployed.
   */
  readonly threshold?: number | undefined
  /** The data that belongs to the policy's type. */
  readonly data?:
    | {
        /** The allowed locations. */
        readonly filters?: readonly Filter[] | undefined
      }
    | undefined
}

/**
 * The specification does not say which fields are required. The name is required by our choice, because nothing can be
 * addressed without a name.
 */
export interface CreateFleetPolicy extends FleetName, FleetPolicyChanges {
  /** Name of the policy, unique in its fleet (our choice). */
  readonly name: string
}

/** Names a policy of a fleet. */
export interface FleetPolicyName extends FleetName {
  /** The policy's name. */
  readonly policy_name: string
}

/** Changes of a policy. Absent fields stay unchanged. */
export interface UpdateFleetPolicy extends FleetPolicyName, FleetPolicyChanges {
  /** A new name. */
  readonly name?: string | undefined
}

/** The policies to list, and their fleet. */
export interface ListFleetPolicies extends FleetName, PageInput {
  /** Mask of fields, e.g. `policies{name,minimum},pagination` (header X-Fields). Other fields are omitted. */
  readonly x_fields?: string | undefined
}

/** How many deployments a fleet keeps, and where (service-api, Fleet policy). */
export interface FleetPolicy extends Masked<Omit<FleetPolicyChanges, 'data'>>, Stamped {
  /** Name of the policy, which paths use too. */
  readonly name: string
  /** The data that belongs to the policy's type. */
  readonly data?: Maybe<{
    /** The allowed locations. */
    readonly filters?: Maybe<readonly FilterEcho[]>
  }>
}

/**
 * A policy after an update. Fields may be missing, even the name (public fact). Read the policy again if you need them.
 */
export interface FleetPolicyUpdated extends Masked<FleetPolicy> {}

/** The list of a fleet's policies. */
export interface FleetPolicyList extends Paged {
  /** The entries of this page. With `x_fields`, only the fields of the mask. */
  readonly policies?: Maybe<readonly Masked<FleetPolicy>[]>
}

const policyFields = {
  enabled: maybe(flag),
  type: maybe(text),
  minimum: maybe(integer),
  maximum: maybe(integer),
  threshold: maybe(decimal),
  data: maybe(z.looseObject({ filters: maybe(z.array(FilterEcho)) })),
  ...stamps,
}
export const FleetPolicy = answer<FleetPolicy>('FleetPolicy', { name: text, ...policyFields })
const FleetPolicyUpdated = answer<FleetPolicyUpdated>('FleetPolicyUpdated', { name: maybe(text), ...policyFields })
const FleetPolicyList = answer<FleetPolicyList>('FleetPolicyList', {
  policies: maybe(z.array(z.looseObject({ name: maybe(text), ...policyFields }))),
  ...paged,
})

const policyChanges = {
  enabled: z.boolean().optional(),
  type: z.string().min(1).optional(),
  minimum: z.int().min(0).optional(),
  maximum: z.int().min(0).optional(),
  threshold: z.number().min(0.1).max(1).optional(),
  data: z.strictObject({ filters: z.array(Filter).optional() }).optional(),
}
const CreateFleetPolicy = input<CreateFleetPolicy>('CreateFleetPolicy', {
  fleet_name: segment,
  name: z.string().min(1),
  ...policyChanges,
})
const UpdateFleetPolicy = input<UpdateFleetPolicy>('UpdateFleetPolicy', {
  fleet_name: segment,
  policy_name: segment,
  name: z.string().min(1).optional(),
  ...policyChanges,
})
const FleetPolicyName = input<FleetPolicyName>('FleetPolicyName', { fleet_name: segment, policy_name: segment })
const ListFleetPolicies = input<ListFleetPolicies>('ListFleetPolicies', {
  fleet_name: segment,
  ...page,
  x_fields: headerText.optional(),
})

export const policies = {
  /**
   * Create a policy of a fleet.
   * Route: `POST /v1/fleet/{fleet_name}/policies`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets; required fields: our choice.
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
    output: FleetPolicyUpdated,
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

/** A fleet creates deployments of the versions linked to it, as its policies say (service-api, Fleet). */
export interface Fleet extends Stamped {
  /** Name of the fleet, which paths use too. */
  readonly name: string
  /** Whether the fleet creates deployments. */
  readonly enabled?: Maybe<boolean>
}

/**
 * A fleet after an update. Fields may be missing, even the name (public fact). Read the fleet again if you need them.
 */
export interface FleetUpdated extends Masked<Fleet> {}

/**
 * The specification does not say which fields are required. The name is required by our choice, because nothing can be
 * addressed without a name.
 */
export interface CreateFleet {
  /** Name of the fleet, at least one character (our choice). */
  readonly name: string
  /** Whether the fleet creates deployments. Default false. */
  readonly enabled?: boolean | undefined
}

/** Names a fleet. */
export interface FleetName {
  /** The fleet's name. */
  readonly fleet_name: string
}

/** Changes of a fleet. Absent fields stay unchanged. */
export interface UpdateFleet extends FleetName {
  /** A new name. */
  readonly name?: string | undefined
  /** Whether the fleet creates deployments. */
  readonly enabled?: boolean | undefined
}

/** The fleets of the account. */
export interface FleetList extends Paged {
  /** The entries of this page. */
  readonly fleets: readonly Fleet[]
}

/** Names a fleet and a version to link or unlink. */
export interface FleetVersionName extends FleetName {
  /** The version's application. */
  readonly app_name: string
  /** The version's name. */
  readonly version_name: string
}

/** The link that makes a fleet deploy a version (service-api, Fleet link record). */
export interface FleetLink extends Stamped {
  /** The application's name. */
  readonly app?: Maybe<string>
  /** The version's name. */
  readonly app_version?: Maybe<string>
  /** The fleet's name. */
  readonly fleet?: Maybe<string>
}

export const Fleet = answer<Fleet>('Fleet', {
  name: text,
  enabled: maybe(flag),
  ...stamps,
})
const FleetUpdated = answer<FleetUpdated>('FleetUpdated', { name: maybe(text), enabled: maybe(flag), ...stamps })
const FleetList = answer<FleetList>('FleetList', { fleets: z.array(Fleet), ...paged })
export const FleetLink = answer<FleetLink>('FleetLink', {
  app: maybe(text),
  app_version: maybe(text),
  fleet: maybe(text),
  ...stamps,
})

const CreateFleet = input<CreateFleet>('CreateFleet', { name: z.string().min(1), enabled: z.boolean().optional() })
const UpdateFleet = input<UpdateFleet>('UpdateFleet', {
  fleet_name: segment,
  name: z.string().min(1).optional(),
  enabled: z.boolean().optional(),
})
const FleetName = input<FleetName>('FleetName', { fleet_name: segment })
const FleetVersionName = input<FleetVersionName>('FleetVersionName', {
  fleet_name: segment,
  app_name: segment,
  version_name: segment,
})
export const fleets = {
  /**
   * Create a fleet.
   * Route: `POST /v1/fleet`.
   * Limit: none documented. Errors: those of every call.
   * Source: service-api, Fleets; required fields: our choice.
   */
  create: operation('POST /v1/fleet', {
    summary: 'Create a fleet',
    input: CreateFleet,
    output: Fleet,
    errors: [400, 401, 500],
  }),
  /**
   * Read a fleet.
   * Route: `GET /v1/fleet/{fleet_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  get: operation('GET /v1/fleet/{fleet_name}', {
    summary: 'Read a fleet',
    input: FleetName,
    output: Fleet,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Change a fleet.
   * Route: `PATCH /v1/fleet/{fleet_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  update: operation('PATCH /v1/fleet/{fleet_name}', {
    summary: 'Change a fleet',
    input: UpdateFleet,
    output: FleetUpdated,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Delete a fleet, its policies and its links to versions.
   * Route: `DELETE /v1/fleet/{fleet_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  delete: operation('DELETE /v1/fleet/{fleet_name}', {
    summary: 'Delete a fleet, its policies and its links to versions',
    input: FleetName,
    output: Message,
    errors: [400, 401, 404, 500],
  }),
  /**
   * List fleets.
   * Route: `GET /v1/fleets`.
   * Limit: none documented. Errors: those of every call.
   * Source: service-api, Fleets.
   */
  list: operation('GET /v1/fleets', {
    summary: 'List fleets',
    input: PageInput,
    output: FleetList,
    errors: [400, 401, 500],
    items: 'fleets',
  }),
  /**
   * Link a version to a fleet, which then deploys it per its policies.
   * Route: `PUT /v1/fleet/{fleet_name}/app/{app_name}/version/{version_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  link: operation('PUT /v1/fleet/{fleet_name}/app/{app_name}/version/{version_name}', {
    summary: 'Link a version to a fleet, which then deploys it per its policies',
    input: FleetVersionName,
    output: FleetLink,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Unlink a version from a fleet; both stay.
   * Route: `DELETE /v1/fleet/{fleet_name}/app/{app_name}/version/{version_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Fleets.
   */
  unlink: operation('DELETE /v1/fleet/{fleet_name}/app/{app_name}/version/{version_name}', {
    summary: 'Unlink a version from a fleet; both stay',
    input: FleetVersionName,
    errors: [400, 401, 404, 500],
  }),
} as const
