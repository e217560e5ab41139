import { applications } from './applications.js'
import { deployments } from './deployments.js'
import { fleets } from './fleets.js'
import type { Handlers } from './handler.js'
import { locations } from './locations.js'
import { policies } from './policies.js'
import { pullProfiles } from './pull-profiles.js'
import { registry } from './registry.js'
import { relays } from './relays.js'
import { storages } from './storages.js'
import { tags } from './tags.js'
import { versions } from './versions.js'

/** All handlers: one for every operation of the description; a missing handler is a compile error. */
export const handlers: Handlers = {
  applications,
  versions,
  registry,
  storages,
  pullProfiles,
  locations,
  deployments,
  fleets,
  policies,
  tags,
  relays,
}
