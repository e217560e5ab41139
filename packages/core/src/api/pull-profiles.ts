import { z } from 'zod'
import { operation } from '../operation.js'
import {
  answer,
  counted,
  input,
  type Masked,
  maybe,
  type Maybe,
  page,
  type Paged,
  type PageInput,
  segment,
  type Stamped,
  stamps,
  text,
  type TimestampA,
} from './fields.js'
import type { EndpointName } from './storages.js'

/**
 * Once linked to a version, a pull profile copies data from an endpoint storage into a container at boot (service-api,
 * Pull profile).
 */
export interface PullProfile {
  /** Name of the profile, which paths use too. */
  readonly name: string
  /** Path in the bucket. */
  readonly source?: Maybe<string>
  /** Whether the source is a file or a folder. */
  readonly source_type?: Maybe<'File' | 'Folder' | (string & {})>
  /** Path in the container. */
  readonly destination?: Maybe<string>
  /** When the profile was created, in format A, UTC. */
  readonly create_time?: Maybe<TimestampA>
  /** When the profile was last updated, in format A, UTC. */
  readonly last_updated?: Maybe<TimestampA>
}

/**
 * A pull profile after an update. Fields may be missing, even the name (public fact). Read the profile again if you
 * need them.
 */
export interface PullProfileUpdated extends Masked<PullProfile> {}

/** The source and the destination of a copy. */
export interface CreatePullProfile extends EndpointName {
  /** Name of the profile, unique in its endpoint storage (our choice). */
  readonly name: string
  /** Path in the bucket. */
  readonly source: string
  /** Whether the source is a file or a folder. */
  readonly source_type: 'File' | 'Folder'
  /**
   * Path in the container. A normal user must be able to write there. Protected paths such as /etc/ make the deployment
   * fail.
   */
  readonly destination: string
}

/** Names a pull profile of an endpoint storage. */
export interface PullProfileName extends EndpointName {
  /** The profile's name. */
  readonly pull_profile_name: string
}

/**
 * The changes of a pull profile. The body's schema is not documented. The sample has the four fields of create, so each
 * may change.
 */
export interface UpdatePullProfile extends PullProfileName {
  /** A new name. */
  readonly name?: string | undefined
  /** Path in the bucket. */
  readonly source?: string | undefined
  /** Whether the source is a file or a folder. */
  readonly source_type?: 'File' | 'Folder' | undefined
  /**
   * Path in the container. A normal user must be able to write there. Protected paths such as /etc/ make the deployment
   * fail.
   */
  readonly destination?: string | undefined
}

/** The pull profiles to list, and their endpoint storage. */
export interface ListPullProfiles extends EndpointName, PageInput {}

/** The pull profiles of an endpoint storage. */
export interface PullProfileList extends Paged {
  /** The entries of this page. */
  readonly pull_profiles: readonly PullProfile[]
  /** Number of all entries, at least 0. */
  readonly total_count?: Maybe<number>
}

/** Names a pull profile and a version to link or unlink. */
export interface PullProfileLinkName extends PullProfileName {
  /** The version's application. */
  readonly app_name: string
  /** The version's name. */
  readonly version_name: string
}

/** The link by which a pull profile is copied into deployments of a version (service-api, Pull profile link record). */
export interface PullProfileLink extends Stamped {
  /** The application's name. */
  readonly app?: Maybe<string>
  /** The version's name. */
  readonly app_version?: Maybe<string>
  /** The endpoint storage's name. */
  readonly endpoint?: Maybe<string>
  /** The profile's name. */
  readonly pull_profile?: Maybe<string>
}

const profileFields = { source: maybe(text), source_type: maybe(text), destination: maybe(text), ...stamps }
export const PullProfile = answer<PullProfile>('PullProfile', { name: text, ...profileFields })
const PullProfileUpdated = answer<PullProfileUpdated>('PullProfileUpdated', { name: maybe(text), ...profileFields })
const PullProfileList = answer<PullProfileList>('PullProfileList', {
  pull_profiles: z.array(PullProfile),
  ...counted,
})
export const PullProfileLink = answer<PullProfileLink>('PullProfileLink', {
  app: maybe(text),
  app_version: maybe(text),
  endpoint: maybe(text),
  pull_profile: maybe(text),
  ...stamps,
})

/**
 * True for a path in /etc, the only protected location that the specification names. `.` and `..` are resolved first.
 */
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

const CreatePullProfile = input<CreatePullProfile>('CreatePullProfile', {
  endpoint_name: segment,
  name: z.string().min(1),
  source: z.string().min(1),
  source_type: z.enum(['File', 'Folder']),
  destination,
})
const UpdatePullProfile = input<UpdatePullProfile>('UpdatePullProfile', {
  endpoint_name: segment,
  pull_profile_name: segment,
  name: z.string().min(1).optional(),
  source: z.string().min(1).optional(),
  source_type: z.enum(['File', 'Folder']).optional(),
  destination: destination.optional(),
})
const PullProfileName = input<PullProfileName>('PullProfileName', {
  endpoint_name: segment,
  pull_profile_name: segment,
})
const ListPullProfiles = input<ListPullProfiles>('ListPullProfiles', { endpoint_name: segment, ...page })
const PullProfileLinkName = input<PullProfileLinkName>('PullProfileLinkName', {
  endpoint_name: segment,
  pull_profile_name: segment,
  app_name: segment,
  version_name: segment,
})

export const pullProfiles = {
  /**
   * Create a pull profile.
   * Route: `POST /v1/storage/endpoint/{endpoint_name}/pull-profile`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  create: operation('POST /v1/storage/endpoint/{endpoint_name}/pull-profile', {
    summary: 'Create a pull profile',
    input: CreatePullProfile,
    output: PullProfile,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Read a pull profile.
   * Route: `GET /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  get: operation('GET /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}', {
    summary: 'Read a pull profile',
    input: PullProfileName,
    output: PullProfile,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Change a pull profile.
   * Route: `PATCH /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  update: operation('PATCH /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}', {
    summary: 'Change a pull profile',
    input: UpdatePullProfile,
    output: PullProfileUpdated,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Delete a pull profile; linked versions stop receiving the data, the storage stays.
   * Route: `DELETE /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  delete: operation('DELETE /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}', {
    summary: 'Delete a pull profile; linked versions stop receiving the data, the storage stays',
    input: PullProfileName,
    errors: [400, 401, 404, 500],
  }),
  /**
   * List the pull profiles of an endpoint storage.
   * Route: `GET /v1/storage/endpoint/{endpoint_name}/pull-profiles`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  list: operation('GET /v1/storage/endpoint/{endpoint_name}/pull-profiles', {
    summary: 'List the pull profiles of an endpoint storage',
    input: ListPullProfiles,
    output: PullProfileList,
    errors: [400, 401, 404, 500],
    items: 'pull_profiles',
  }),
  /**
   * Link a pull profile to an application version.
   * Route:
   * `PUT /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}/app/{app_name}/version/{version_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  link: operation(
    'PUT /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}/app/{app_name}/version/{version_name}',
    {
      summary: 'Link a pull profile to an application version',
      input: PullProfileLinkName,
      output: PullProfileLink,
      errors: [400, 401, 404, 500],
    },
  ),
  /**
   * Unlink a pull profile from an application version; the profile stays.
   * Route:
   * `DELETE
   * /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}/app/{app_name}/version/{version_name}`.
   * Limit: none documented. Errors: `NotFound` (404). Source: service-api, Log storage.
   */
  unlink: operation(
    'DELETE /v1/storage/endpoint/{endpoint_name}/pull-profile/{pull_profile_name}/app/{app_name}/version/{version_name}',
    {
      summary: 'Unlink a pull profile from an application version; the profile stays',
      input: PullProfileLinkName,
      errors: [400, 401, 404, 500],
    },
  ),
} as const
