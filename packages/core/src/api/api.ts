import type { Operation } from '../operation.js'
import { applications } from './applications.js'
import { deployments } from './deployments.js'
import { fleets, policies } from './fleets.js'
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
  /** Applications, which group versions. */
  readonly applications: typeof applications
  /** Versions of applications. A deployment runs a version. */
  readonly versions: typeof versions
  /** Tags of images in the service's container registry. */
  readonly registry: typeof registry
  /** Buckets that receive container logs. */
  readonly storages: typeof storages
  /** Pull profiles, which copy data from a bucket into containers. */
  readonly pullProfiles: typeof pullProfiles
  /** Where deployments can run, and hosts to ping there. */
  readonly locations: typeof locations
  /** Deployments (servers): created, read, stopped, and their logs and metrics. */
  readonly deployments: typeof deployments & typeof legacy
  /** Fleets, which create deployments by themselves. */
  readonly fleets: typeof fleets
  /** Policies of fleets: when they create deployments, and where. */
  readonly policies: typeof policies
  /** Tags of deployments. */
  readonly tags: typeof tags
  /** Sessions whose relay passes traffic between users. */
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

/** Id of an operation: 'deployments.create', 'fleets.list', … */
export type OperationId = { [Group in keyof Api & string]: `${Group}.${keyof Api[Group] & string}` }[keyof Api & string]

/** Every operation with its id, in the order of the specification. */
export const operations: readonly (readonly [id: OperationId, operation: Operation])[] = Object.entries(api).flatMap(
  ([group, members]) =>
    Object.entries(members).map(
      ([name, operation]) => [`${group}.${name}` as OperationId, operation as Operation] as const,
    ),
)
