import { z } from 'zod'
import { operation } from '../operation.js'
import {
  httpUrl,
  integer,
  maybe,
  page,
  Pagination,
  secret,
  segment,
  text,
  timestampA,
  type Masked,
  type Maybe,
  type PageInput,
  type TimestampA,
} from './fields.js'

/** A bucket that receives container logs at the end of a deployment (service-api, Endpoint storage). */
export interface EndpointStorage {
  readonly name: string
  /** v1 stores one file per deployment; v2 streams chunks of logs in real time. */
  readonly container_log_version?: Maybe<'v1' | 'v2' | (string & {})>
  readonly access_key_id?: Maybe<string>
  /** Full URL of the bucket service. */
  readonly endpoint?: Maybe<string>
  readonly bucket?: Maybe<string>
  readonly output_format?: Maybe<'TEXT' | 'NDJSON' | (string & {})>
  /** Format A, UTC. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A, UTC. */
  readonly last_updated?: Maybe<TimestampA>
}

export interface EndpointStorageChanges {
  readonly container_log_version?: 'v1' | 'v2' | undefined
  readonly access_key_id?: string | undefined
  /** Write-only, encrypted, in no answer. A secret. */
  readonly secret_access_key?: string | undefined
  /** http or https URL, best without the bucket's name as a subdomain. */
  readonly endpoint?: string | undefined
  readonly bucket?: string | undefined
  readonly output_format?: 'TEXT' | 'NDJSON' | undefined
}

export interface CreateEndpointStorage extends EndpointStorageChanges {
  readonly name: string
  readonly access_key_id: string
  readonly secret_access_key: string
  readonly endpoint: string
  readonly bucket: string
}

export interface EndpointName {
  readonly endpoint_name: string
}

export interface UpdateEndpointStorage extends EndpointName, EndpointStorageChanges {
  /** A new name. */
  readonly name?: string | undefined
}

export interface ListEndpointStorages extends PageInput {
  /** Mask of fields, e.g. `endpoints{name,bucket},pagination` (header X-Fields). What it leaves out is missing from the answer. */
  readonly x_fields?: string | undefined
}

export interface EndpointStorageList {
  readonly endpoints?: Maybe<readonly Masked<EndpointStorage>[]>
  readonly pagination?: Maybe<Pagination>
}

/** Copies data from an endpoint storage into a container at boot, once linked to a version (service-api, Pull profile). */
export interface PullProfile {
  readonly name: string
  /** Path in the bucket. */
  readonly source?: Maybe<string>
  readonly source_type?: Maybe<'File' | 'Folder' | (string & {})>
  /** Path in the container. */
  readonly destination?: Maybe<string>
  /** Format A, UTC. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A, UTC. */
  readonly last_updated?: Maybe<TimestampA>
}

export interface CreatePullProfile extends EndpointName {
  readonly name: string
  readonly source: string
  readonly source_type: 'File' | 'Folder'
  /** Writable by a normal user; not a protected location such as /etc/ (the deployment would fail). */
  readonly destination: string
}

export interface PullProfileName extends EndpointName {
  readonly pull_profile_name: string
}

/** The body's schema is not shown; the sampled one carries the four fields of create, so each may change. */
export interface UpdatePullProfile extends PullProfileName {
  readonly name?: string | undefined
  readonly source?: string | undefined
  readonly source_type?: 'File' | 'Folder' | undefined
  readonly destination?: string | undefined
}

export interface ListPullProfiles extends EndpointName, PageInput {}

export interface PullProfileList {
  readonly pull_profiles: readonly PullProfile[]
  readonly total_count?: Maybe<number>
  readonly pagination?: Maybe<Pagination>
}

export interface PullProfileLinkName extends PullProfileName {
  readonly app_name: string
  readonly version_name: string
}

/** All four are names. */
export interface PullProfileLink {
  readonly app?: Maybe<string>
  readonly app_version?: Maybe<string>
  readonly endpoint?: Maybe<string>
  readonly pull_profile?: Maybe<string>
  /** Format A. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A. */
  readonly last_updated?: Maybe<TimestampA>
}

const storageFields = {
  container_log_version: maybe(text),
  access_key_id: maybe(text),
  endpoint: maybe(text),
  bucket: maybe(text),
  output_format: maybe(text),
  create_time: maybe(timestampA),
  last_updated: maybe(timestampA),
}

export const EndpointStorage: z.ZodType<EndpointStorage> = z.looseObject({ name: text, ...storageFields })
const EndpointStorageList: z.ZodType<EndpointStorageList> = z.looseObject({
  endpoints: maybe(z.array(z.looseObject({ name: maybe(text), ...storageFields }))),
  pagination: maybe(Pagination),
})

export const PullProfile: z.ZodType<PullProfile> = z.looseObject({
  name: text,
  source: maybe(text),
  source_type: maybe(text),
  destination: maybe(text),
  create_time: maybe(timestampA),
  last_updated: maybe(timestampA),
})
const PullProfileList: z.ZodType<PullProfileList> = z.looseObject({
  pull_profiles: z.array(PullProfile),
  total_count: maybe(integer),
  pagination: maybe(Pagination),
})
export const PullProfileLink: z.ZodType<PullProfileLink> = z.looseObject({
  app: maybe(text),
  app_version: maybe(text),
  endpoint: maybe(text),
  pull_profile: maybe(text),
  create_time: maybe(timestampA),
  last_updated: maybe(timestampA),
})

const storageChanges = {
  container_log_version: z.enum(['v1', 'v2']).optional(),
  access_key_id: z.string().min(1).optional(),
  secret_access_key: secret.optional(),
  endpoint: httpUrl.optional(),
  bucket: z.string().min(1).optional(),
  output_format: z.enum(['TEXT', 'NDJSON']).optional(),
}
const CreateEndpointStorage: z.ZodType<CreateEndpointStorage> = z.strictObject({
  ...storageChanges,
  name: z.string().min(1),
  access_key_id: z.string().min(1),
  secret_access_key: secret,
  endpoint: httpUrl,
  bucket: z.string().min(1),
})
const UpdateEndpointStorage: z.ZodType<UpdateEndpointStorage> = z.strictObject({
  endpoint_name: segment,
  name: z.string().min(1).optional(),
  ...storageChanges,
})
const EndpointName: z.ZodType<EndpointName> = z.strictObject({ endpoint_name: segment })
const ListEndpointStorages: z.ZodType<ListEndpointStorages> = z.strictObject({ ...page, x_fields: z.string().min(1).optional() })

/** The one protected location that the specification names. `.` and `..` are resolved before the comparison. */
const isProtected = (destination: string) => {
  const parts: string[] = []
  for (const part of destination.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return destination.startsWith('/') && parts[0] === 'etc'
}
const destination = z
  .string()
  .min(1)
  .refine((path) => !isProtected(path), { error: 'must not be in a protected location such as /etc/' })

const CreatePullProfile: z.ZodType<CreatePullProfile> = z.strictObject({
  endpoint_name: segment,
  name: z.string().min(1),
  source: z.string().min(1),
  source_type: z.enum(['File', 'Folder']),
  destination,
})
const UpdatePullProfile: z.ZodType<UpdatePullProfile> = z.strictObject({
  endpoint_name: segment,
  pull_profile_name: segment,
  name: z.string().min(1).optional(),
  source: z.string().min(1).optional(),
  source_type: z.enum(['File', 'Folder']).optional(),
  destination: destination.optional(),
})
const PullProfileName: z.ZodType<PullProfileName> = z.strictObject({ endpoint_name: segment, pull_profile_name: segment })
const ListPullProfiles: z.ZodType<ListPullProfiles> = z.strictObject({ endpoint_name: segment, ...page })
const PullProfileLinkName: z.ZodType<PullProfileLinkName> = z.strictObject({
  endpoint_name: segment,
  pull_profile_name: segment,
  app_name: segment,
  version_name: segment,
})

export const storages = {
  create: operation('POST /v1/storage/endpoint', {
    summary: 'Create an endpoint storage for container logs',
    input: CreateEndpointStorage,
    output: EndpointStorage,
    errors: [400, 401, 500],
  }),
  get: operation('GET /v1/storage/endpoint/{endpoint_name}', {
    summary: 'Read an endpoint storage',
    input: EndpointName,
    output: EndpointStorage,
    errors: [400, 401, 404, 500],
  }),
  update: operation('PATCH /v1/storage/endpoint/{endpoint_name}', {
    summary: 'Change an endpoint storage',
    input: UpdateEndpointStorage,
    output: EndpointStorage,
    errors: [400, 401, 404, 500],
  }),
  delete: operation('DELETE /v1/storage/endpoint/{endpoint_name}', {
    summary: 'Delete an endpoint storage; versions linked to it can no longer store logs',
    input: EndpointName,
    errors: [401, 404, 500],
  }),
  list: operation('GET /v1/storage/endpoints', {
    summary: 'List endpoint storages',
    input: ListEndpointStorages,
    output: EndpointStorageList,
    errors: [400, 401, 500],
    headers: { x_fields: 'X-Fields' },
    items: 'endpoints',
  }),
} as const

export const pullProfiles = {
  create: operation('POST /v1/storage/endpoint/{endpoint_name}/pull-profile', {
    summary: 'Create a pull profile',
    input: CreatePullProfile,
    output: PullProfile,
    errors: [400, 401, 404, 500],
  }),
  get: operation('GET /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}', {
    summary: 'Read a pull profile',
    input: PullProfileName,
    output: PullProfile,
    errors: [400, 401, 404, 500],
  }),
  update: operation('PATCH /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}', {
    summary: 'Change a pull profile',
    input: UpdatePullProfile,
    output: PullProfile,
    errors: [400, 401, 404, 500],
  }),
  delete: operation('DELETE /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}', {
    summary: 'Delete a pull profile; linked versions stop receiving the data, the storage stays',
    input: PullProfileName,
    errors: [400, 401, 404, 500],
  }),
  list: operation('GET /v1/storage/endpoint/{endpoint_name}/pull-profiles', {
    summary: 'List the pull profiles of an endpoint storage',
    input: ListPullProfiles,
    output: PullProfileList,
    errors: [400, 401, 404, 500],
    items: 'pull_profiles',
  }),
  link: operation(
    'PUT /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}/app/{app_name}/version/{version_name}',
    {
      summary: 'Link a pull profile to an application version',
      input: PullProfileLinkName,
      output: PullProfileLink,
      errors: [400, 401, 404, 500],
    },
  ),
  unlink: operation(
    'DELETE /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}/app/{app_name}/version/{version_name}',
    {
      summary: 'Unlink a pull profile from an application version; the profile stays',
      input: PullProfileLinkName,
      errors: [400, 401, 404, 500],
    },
  ),
} as const
