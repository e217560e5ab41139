import type { Operation } from '../operation.js'
import { applications } from './applications.js'
import { deployments } from './deployments.js'
import { fleets, policies } from './fleets.js'
import { legacy } from './legacy.js'
import { locations } from './locations.js'
import { registry } from './registry.js'
import { relays } from './relays.js'
import { pullProfiles, storages } from './storage.js'
import { tags } from './tags.js'
import { versions } from './versions.js'

/** All 58 operations of the service, by resource. The client has the same shape. */
export const api = {
  applications,
  versions,
  registry,
  storages,
  pullProfiles,
  locations,
  deployments: { ...deployments, ...legacy },
  fleets,
  policies,
  tags,
  relays,
} as const

export type Api = typeof api

/** 'deployments.create', 'fleets.list', … */
export type OperationId = { [Group in keyof Api & string]: `${Group}.${keyof Api[Group] & string}` }[keyof Api & string]

/** Every operation with its id, in the order of the document. */
export const operations: readonly (readonly [id: OperationId, operation: Operation])[] = Object.entries(api).flatMap(
  ([group, members]) =>
    Object.entries(members).map(
      ([name, operation]) => [`${group}.${name}` as OperationId, operation as Operation] as const,
    ),
)
