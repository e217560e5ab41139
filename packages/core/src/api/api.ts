import type { Operation } from '../operation.js'
import { applications } from './applications.js'
import { deployments } from './deployments.js'
import { policies } from './fleet-policies.js'
import { fleets } from './fleets.js'
import { legacy } from './legacy.js'
import { locations } from './locations.js'
import { pullProfiles } from './pull-profiles.js'
import { registry } from './registry.js'
import { relays } from './relays.js'
import { storages } from './storages.js'
import { tags } from './tags.js'
import { versions } from './versions.js'

/** All 58 operations of the service, by resource. The client has the same shape. */
export interface Api {
  readonly applications: typeof applications
  readonly versions: typeof versions
  readonly registry: typeof registry
  readonly storages: typeof storages
  readonly pullProfiles: typeof pullProfiles
  readonly locations: typeof locations
  readonly deployments: typeof deployments & typeof legacy
  readonly fleets: typeof fleets
  readonly policies: typeof policies
  readonly tags: typeof tags
  readonly relays: typeof relays
}

export const api: Api = {
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
}

/** 'deployments.create', 'fleets.list', … */
export type OperationId = { [Group in keyof Api & string]: `${Group}.${keyof Api[Group] & string}` }[keyof Api & string]

/** Every operation with its id, in the order of the document. */
export const operations: readonly (readonly [id: OperationId, operation: Operation])[] = Object.entries(api).flatMap(
  ([group, members]) =>
    Object.entries(members).map(
      ([name, operation]) => [`${group}.${name}` as OperationId, operation as Operation] as const,
    ),
)
