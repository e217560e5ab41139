import { z } from 'zod'
import { operation } from '../operation.js'
import {
  answer,
  headerText,
  httpUrl,
  input,
  type Masked,
  maybe,
  type Maybe,
  page,
  paged,
  type Paged,
  type PageInput,
  secret,
  segment,
  stamps,
  text,
  type TimestampA,
} from './fields.js'

/** A bucket that receives container logs at the end of a deployment (service-api, Endpoint storage). */
export interface EndpointStorage {
  /** Name of the storage, which paths use too. */
  readonly name: string
  /** Version of the log storage. v1 stores one file per deployment; v2 streams chunks of logs in real time. */
  readonly container_log_version?: Maybe<'v1' | 'v2' | (string & {})>
  /** Key id for the bucket. */
  readonly access_key_id?: Maybe<string>
  /** Full URL of the bucket service. */
  readonly endpoint?: Maybe<string>
  /** The bucket's name. */
  readonly bucket?: Maybe<string>
  /** Form of the logs: TEXT or NDJSON. */
  readonly output_format?: Maybe<'TEXT' | 'NDJSON' | (string & {})>
  /** When the storage was created, in format A, UTC. */
  readonly create_time?: Maybe<TimestampA>
  /** When the storage was last updated, in format A, UTC. */
  readonly last_updated?: Maybe<TimestampA>
}

/**
 * An endpoint storage after an update. Fields may be missing, even the name (public fact). Read the storage again if
 * you need them.
 */
export interface EndpointStorageUpdated extends Masked<EndpointStorage> {}

/** The common fields of an endpoint storage and its update. */
export interface EndpointStorageChanges {
  /**
   * Version of the log storage. v1 stores one file per deployment; v2 streams chunks of logs in real time. Default v1.
   */
  readonly container_log_version?: 'v1' | 'v2' | undefined
  /** Key id for the bucket. */
  readonly access_key_id?: string | undefined
  /** Secret of the key. The service stores it encrypted and never returns it. */
  readonly secret_access_key?: string | undefined
  /** Full http or https URL of the bucket service, preferably without the bucket's name as a subdomain. */
  readonly endpoint?: string | undefined
  /** The bucket's name. */
  readonly bucket?: string | undefined
  /** Form of the logs. Default TEXT. */
  readonly output_format?: 'TEXT' | 'NDJSON' | undefined
}

/** The bucket, and its access key. */
export interface CreateEndpointStorage extends EndpointStorageChanges {
  /** Name of the storage, at least one character (our choice). */
  readonly name: string
  /** Key id for the bucket. */
  readonly access_key_id: string
  /** Secret of the key. The service stores it encrypted and never returns it. */
  readonly secret_access_key: string
  /** Full http or https URL of the bucket service, preferably without the bucket's name as a subdomain. */
  readonly endpoint: string
  /** The bucket's name. */
  readonly bucket: string
}

/** Names an endpoint storage. */
export interface EndpointName {
  /** The storage's name. */
  readonly endpoint_name: string
}

/** Changes of an endpoint storage. Absent fields stay unchanged. */
export interface UpdateEndpointStorage extends EndpointName, EndpointStorageChanges {
  /** A new name. */
  readonly name?: string | undefined
}

/** The endpoint storages to list. */
export interface ListEndpointStorages extends PageInput {
  /** Mask of fields, e.g. `endpoints{name,bucket},pagination` (header X-Fields). Other fields are omitted. */
  readonly x_fields?: string | undefined
}

/** The endpoint storages of the account. */
export interface EndpointStorageList extends Paged {
  /** The entries of this page. With `x_fields`, only the fields of the mask. */
  readonly endpoints?: Maybe<readonly Masked<EndpointStorage>[]>
}

const storageFields = {
  container_log_version: maybe(text),
  access_key_id: maybe(text),
  endpoint: maybe(text),
  bucket: maybe(text),
  output_format: maybe(text),
  ...stamps,
}

export const EndpointStorage = answer<EndpointStorage>('EndpointStorage', { name: text, ...storageFields })
const EndpointStorageUpdated = answer<EndpointStorageUpdated>('EndpointStorageUpdated', {
  name: maybe(text),
  ...storageFields,
})
const EndpointStorageList = answer<EndpointStorageList>('EndpointStorageList', {
  endpoints: maybe(z.array(z.looseObject({ name: maybe(text), ...storageFields }))),
  ...paged,
})

/** A secret that is accepted in requests and never returned in responses. */
const writeOnly = secret.meta({ writeOnly: true })
const storageChanges = {
  container_log_version: z.enum(['v1', 'v2']).optional(),
  access_key_id: z.string().min(1).optional(),
  secret_access_key: writeOnly.optional(),
  endpoint: httpUrl.optional(),
  bucket: z.string().min(1).optional(),
  output_format: z.enum(['TEXT', 'NDJSON']).optional(),
}
const CreateEndpointStorage = input<CreateEndpointStorage>('CreateEndpointStorage', {
  ...storageChanges,
  name: z.string().min(1),
  access_key_id: z.string().min(1),
  secret_access_key: writeOnly,
  endpoint: httpUrl,
  bucket: z.string().min(1),
})
const UpdateEndpointStorage = input<UpdateEndpointStorage>('UpdateEndpointStorage', {
  endpoint_name: segment,
  name: z.string().min(1).optional(),
  ...storageChanges,
})
const EndpointName = input<EndpointName>('EndpointName', { endpoint_name: segment })
const ListEndpointStorages = input<ListEndpointStorages>('ListEndpointStorages', {
  ...page,
  x_fields: headerText.optional(),
})

export const storages = {
  /**
   * Create an endpoint storage for container logs.
   * Route: `POST /v1/storage/endpoint`.
   * Limit: none documented. Errors: those of every call.
   * Source: service-api, Log storage.
   */
  create: operation('POST /v1/storage/endpoint', {
    summary: 'Create an endpoint storage for container logs',
    input: CreateEndpointStorage,
    output: EndpointStorage,
    errors: [400, 401, 500],
  }),
  /**
   * Read an endpoint storage.
   * Route: `GET /v1/storage/endpoint/{endpoint_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  get: operation('GET /v1/storage/endpoint/{endpoint_name}', {
    summary: 'Read an endpoint storage',
    input: EndpointName,
    output: EndpointStorage,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Change an endpoint storage.
   * Route: `PATCH /v1/storage/endpoint/{endpoint_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  update: operation('PATCH /v1/storage/endpoint/{endpoint_name}', {
    summary: 'Change an endpoint storage',
    input: UpdateEndpointStorage,
    output: EndpointStorageUpdated,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Delete an endpoint storage; versions linked to it can no longer store logs.
   * Route: `DELETE /v1/storage/endpoint/{endpoint_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Log storage.
   */
  delete: operation('DELETE /v1/storage/endpoint/{endpoint_name}', {
    summary: 'Delete an endpoint storage; versions linked to it can no longer store logs',
    input: EndpointName,
    errors: [401, 404, 500],
  }),
  /**
   * List endpoint storages.
   * Route: `GET /v1/storage/endpoints`.
   * Limit: none documented. Errors: those of every call.
   * Source: service-api, Log storage.
   */
  list: operation('GET /v1/storage/endpoints', {
    summary: 'List endpoint storages',
    input: ListEndpointStorages,
    output: EndpointStorageList,
    errors: [400, 401, 500],
    headers: { x_fields: 'X-Fields' },
    items: 'endpoints',
  }),
} as const
