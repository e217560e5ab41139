/** The handlers of the emulated service's operations. */
import { applications, registry, versions } from './application-handlers.js'
import { deployments, tags } from './deployment-handlers.js'
import { fleets, policies } from './fleet-handlers.js'
import type { Handlers } from './handler.js'
import { locations } from './location-handlers.js'
import { pullProfiles, storages } from './storage-handlers.js'
import { relays } from './relay-handlers.js'

/** The handlers of all operations. A missing handler is a compile error. */
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

export { type Failure, type Handlers, type NoContent, paged, type RequestContext, type Success } from './handler.js'
