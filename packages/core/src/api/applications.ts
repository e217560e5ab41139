import { z } from 'zod'
import { operation } from '../operation.js'
import {
  answer,
  type Counted,
  counted,
  flag,
  input,
  limitedText,
  type Masked,
  maybe,
  PageInput,
  segment,
  type Stamped,
  stamps,
  text,
} from './fields.js'

/** Groups application versions (service-api, Application). */
export interface Application extends Masked<ApplicationChanges>, Stamped {
  /** Name of the application, which paths use too. */
  readonly name: string
}

export const Application = answer<Application>('Application', {
  name: text,
  is_active: maybe(flag),
  is_telemetry_agent_active: maybe(flag),
  image: maybe(text),
  ...stamps,
})

/** The applications of the account. */
export interface ApplicationList extends Counted {
  /** The entries of this page: all of them, unless the service cuts the list into pages (public fact). */
  readonly applications: readonly Application[]
}

export const ApplicationList = answer<ApplicationList>('ApplicationList', {
  applications: z.array(Application),
  ...counted,
})

/** The common fields of an application and its update. */
export interface ApplicationChanges {
  /** Whether the application can be deployed. */
  readonly is_active?: boolean | undefined
  /** Whether the telemetry agent is installed on versions of this application. */
  readonly is_telemetry_agent_active?: boolean | undefined
  /** Base64-encoded image. */
  readonly image?: string | undefined
}

/**
 * The specification does not say which fields are required. The name is required by our choice, because nothing can be
 * addressed without a name.
 */
export interface CreateApplication extends ApplicationChanges {
  /** 3 to 64 characters (length: public fact). */
  readonly name: string
}

/** Names an application. */
export interface ApplicationName {
  /** The application's name. */
  readonly app_name: string
}

/** Changes of an application. Absent fields stay unchanged. */
export interface UpdateApplication extends ApplicationName, ApplicationChanges {
  /** A new name, 3 to 64 characters (length: public fact). */
  readonly name?: string | undefined
}

const name = limitedText('appName')
const changes = {
  is_active: z.boolean().optional(),
  is_telemetry_agent_active: z.boolean().optional(),
  image: z.base64({ error: 'must be base64' }).optional(),
}
export const ApplicationName = input<ApplicationName>('ApplicationName', { app_name: segment })
const CreateApplication = input<CreateApplication>('CreateApplication', { name, ...changes })
const UpdateApplication = input<UpdateApplication>('UpdateApplication', {
  app_name: segment,
  name: name.optional(),
  ...changes,
})

export const applications = {
  /**
   * Create an application.
   * Route: `POST /v1/app`.
   * Limit: none documented. Errors: `Conflict` (409).
   * If `is_active` or `image` is absent, `is_active: true` or an empty `image` is sent: see `fillRequired` of
   * `Settings`.
   * Source: service-api, Applications; required fields: our choice.
   */
  create: operation('POST /v1/app', {
    summary: 'Create an application',
    input: CreateApplication,
    output: Application,
    errors: [400, 401, 409, 500],
    fill: { is_active: true, image: '' },
  }),
  /**
   * Change an application.
   * Route: `PATCH /v1/app/{app_name}`.
   * Limit: none documented. Errors: `NotFound` (404), `Conflict` (409).
   * Source: service-api, Applications.
   */
  update: operation('PATCH /v1/app/{app_name}', {
    summary: 'Change an application',
    input: UpdateApplication,
    output: Application,
    errors: [400, 401, 404, 409, 500],
  }),
  /**
   * Read an application.
   * Route: `GET /v1/app/{app_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Applications.
   */
  get: operation('GET /v1/app/{app_name}', {
    summary: 'Read an application',
    input: ApplicationName,
    output: Application,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Delete an application and all its current versions.
   * Route: `DELETE /v1/app/{app_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Applications.
   */
  delete: operation('DELETE /v1/app/{app_name}', {
    summary: 'Delete an application and all its current versions',
    input: ApplicationName,
    errors: [400, 401, 404, 500],
  }),
  /**
   * List all applications.
   * Route: `GET /v1/apps`.
   * Limit: none documented. Errors: those of every call.
   * Source: service-api, Applications.
   */
  list: operation('GET /v1/apps', {
    summary: 'List all applications',
    input: PageInput,
    output: ApplicationList,
    errors: [400, 401, 500],
    items: 'applications',
  }),
} as const
