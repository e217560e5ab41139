import type { Fleet } from '@muster/core/api'
import { dropUndefined } from '../drop-undefined.js'
import { createNamed } from '../named.js'
import { paged } from '../pages.js'
import type { FleetRecord, PolicyRecord } from '../records.js'
import { formatA } from '../timestamps.js'
import { fail, noContent, ok, type HandlersOf } from './handler.js'
import { findFleet, findVersion, isFailure, unlinked } from './lookup.js'

const view = (fleet: FleetRecord): Fleet => ({
  name: fleet.name,
  enabled: fleet.enabled,
  create_time: formatA(fleet.createdAt),
  last_updated: formatA(fleet.updatedAt),
})

/** A name conflict is answered by 400, because the document declares no 409 here. */
const taken = (name: string) => fail(400, `name: there is already a fleet named ${JSON.stringify(name)}`)

/** The handlers of fleets. Each change is followed by a reconciliation, which deploys what the fleets demand. */
export const fleets: HandlersOf<'fleets'> = {
  create: ({ name, enabled = false }, { world }) => {
    const now = world.clock.now()
    const fleet: FleetRecord = {
      name,
      enabled,
      policies: createNamed<PolicyRecord>(),
      links: new Map(),
      createdAt: now,
      updatedAt: now,
    }
    return world.fleets.add(fleet) ? ok(view(fleet)) : taken(name)
  },

  get: ({ fleet_name }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    return isFailure(fleet) ? fleet : ok(view(fleet))
  },

  update: ({ fleet_name, name, ...changes }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    if (isFailure(fleet)) return fleet
    if (name !== undefined && !world.fleets.rename(fleet, name)) return taken(name)
    Object.assign(fleet, dropUndefined(changes), { updatedAt: world.clock.now() })
    world.deployments.reconcileFleets()
    return ok(view(fleet))
  },

  delete: ({ fleet_name }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    if (isFailure(fleet)) return fleet
    world.fleets.delete(fleet)
    world.deployments.reconcileFleets()
    return ok({ message: `fleet ${JSON.stringify(fleet_name)} deleted` })
  },

  list: (wanted, { world }) => {
    const { items, pagination } = paged(world.fleets.values(), wanted, world.pageSizes)
    return ok({ fleets: items.map(view), pagination })
  },

  link: (input, { world }) => {
    const fleet = findFleet(world, input.fleet_name)
    if (isFailure(fleet)) return fleet
    const version = findVersion(world, input)
    if (isFailure(version)) return version
    const now = world.clock.now()
    const link = fleet.links.get(version) ?? { createdAt: now, updatedAt: now }
    fleet.links.set(version, link)
    world.deployments.reconcileFleets()
    return ok({
      app: version.app.name,
      app_version: version.name,
      fleet: fleet.name,
      create_time: formatA(link.createdAt),
      last_updated: formatA(link.updatedAt),
    })
  },

  unlink: (input, { world }) => {
    const fleet = findFleet(world, input.fleet_name)
    if (isFailure(fleet)) return fleet
    const version = findVersion(world, input)
    if (isFailure(version)) return version
    if (!fleet.links.delete(version)) return unlinked(version, `fleet ${JSON.stringify(fleet.name)}`)
    world.deployments.reconcileFleets()
    return noContent()
  },
}
