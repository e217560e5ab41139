import type { Application } from '@muster/core/api'
import { dropUndefined } from '../drop-undefined.js'
import { createNamed } from '../named.js'
import type { ApplicationRecord, VersionRecord } from '../records.js'
import { formatA } from '../timestamps.js'
import { forgetVersion } from './versions.js'
import { fail, noContent, ok, type HandlersOf } from './handler.js'
import { findApplication, isFailure } from './lookup.js'

const view = (app: ApplicationRecord): Application => ({
  name: app.name,
  is_active: app.is_active,
  is_telemetry_agent_active: app.is_telemetry_agent_active,
  image: app.image,
  create_time: formatA(app.createdAt),
  last_updated: formatA(app.updatedAt),
})

const taken = (name: string) => fail(409, `there is already an application named ${JSON.stringify(name)}`)

export const applications: HandlersOf<'applications'> = {
  create: ({ name, is_active = true, is_telemetry_agent_active = false, image = '' }, { world }) => {
    const now = world.clock.now()
    const app: ApplicationRecord = {
      name,
      is_active,
      is_telemetry_agent_active,
      image,
      versions: createNamed<VersionRecord>(),
      createdAt: now,
      updatedAt: now,
    }
    return world.applications.add(app) ? ok(view(app)) : taken(name)
  },

  update: ({ app_name, name, ...changes }, { world }) => {
    const app = findApplication(world, app_name)
    if (isFailure(app)) return app
    if (name !== undefined && !world.applications.rename(app, name)) return taken(name)
    Object.assign(app, dropUndefined(changes), { updatedAt: world.clock.now() })
    world.deployments.reconcileFleets()
    return ok(view(app))
  },

  get: ({ app_name }, { world }) => {
    const app = findApplication(world, app_name)
    return isFailure(app) ? app : ok(view(app))
  },

  delete: ({ app_name }, { world }) => {
    const app = findApplication(world, app_name)
    if (isFailure(app)) return app
    for (const version of app.versions.values()) forgetVersion(world, version)
    world.applications.delete(app)
    world.deployments.reconcileFleets()
    return noContent()
  },

  list: (_input, { world }) => ok({ applications: world.applications.values().map(view) }),
}
