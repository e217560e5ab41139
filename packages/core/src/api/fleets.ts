import { z } from 'zod'
import { operation } from '../operation.js'
import {
  flag,
  maybe,
  Message,
  named,
  PageInput,
  Pagination,
  segment,
  text,
  timestampA,
  type Maybe,
  type TimestampA,
} from './fields.js'

/** Creates deployments of the versions linked to it, as its policies say (service-api, Fleet). */
export interface Fleet {
  /** Its name, which paths use too. */
  readonly name: string
  /** Whether it creates deployments. */
  readonly enabled?: Maybe<boolean>
  /** Format A. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A. */
  readonly last_updated?: Maybe<TimestampA>
}

/**
 * The specification does not show which fields are required. The name is, by our choice: nothing can be addressed
 * without one.
 */
export interface CreateFleet {
  /** At least one character (our choice). */
  readonly name: string
  /** Whether it creates deployments; default false. */
  readonly enabled?: boolean | undefined
}

/** Names a fleet. */
export interface FleetName {
  /** The fleet's name. */
  readonly fleet_name: string
}

/** Fields that are left out stay unchanged. */
export interface UpdateFleet extends FleetName {
  /** A new name. */
  readonly name?: string | undefined
  /** Whether it creates deployments. */
  readonly enabled?: boolean | undefined
}

/** The fleets of the account. */
export interface FleetList {
  /** The entries of this page. */
  readonly fleets: readonly Fleet[]
  /** The position of this page in the list. */
  readonly pagination?: Maybe<Pagination>
}

/** Names a fleet and a version to be linked or unlinked. */
export interface FleetVersionName extends FleetName {
  /** The version's application. */
  readonly app_name: string
  /** The version's name. */
  readonly version_name: string
}

/** The link by which a fleet deploys a version (service-api, Fleet link record). */
export interface FleetLink {
  /** The application's name. */
  readonly app?: Maybe<string>
  /** The version's name. */
  readonly app_version?: Maybe<string>
  /** The fleet's name. */
  readonly fleet?: Maybe<string>
  /** Format A. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A. */
  readonly last_updated?: Maybe<TimestampA>
}

export const Fleet = named<Fleet>(
  'Fleet',
  z.looseObject({
    name: text,
    enabled: maybe(flag),
    create_time: maybe(timestampA),
    last_updated: maybe(timestampA),
  }),
)
const FleetList = named<FleetList>(
  'FleetList',
  z.looseObject({ fleets: z.array(Fleet), pagination: maybe(Pagination) }),
)
export const FleetLink = named<FleetLink>(
  'FleetLink',
  z.looseObject({
    app: maybe(text),
    app_version: maybe(text),
    fleet: maybe(text),
    create_time: maybe(timestampA),
    last_updated: maybe(timestampA),
  }),
)

const CreateFleet = named<CreateFleet>(
  'CreateFleet',
  z.strictObject({ name: z.string().min(1), enabled: z.boolean().optional() }),
)
const UpdateFleet = named<UpdateFleet>(
  'UpdateFleet',
  z.strictObject({
    fleet_name: segment,
    name: z.string().min(1).optional(),
    enabled: z.boolean().optional(),
  }),
)
const FleetName = named<FleetName>('FleetName', z.strictObject({ fleet_name: segment }))
const FleetVersionName = named<FleetVersionName>(
  'FleetVersionName',
  z.strictObject({
    fleet_name: segment,
    app_name: segment,
    version_name: segment,
  }),
)
export const fleets = {
  /**
   * Create a fleet.
   * Route: `POST /v1/fleet`.
   * Limit: none documented. Errors: those of every call.
   * Source: service-api, Fleets; required fields by our choice.
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
    output: Fleet,
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
