import type { Fleet, FleetPolicy } from '@muster/core/api'
import type { FleetPolicyChanges } from '@muster/core/internal'
import { policyPlaces } from '../deployments/index.js'
import { dropUndefined } from '../option-values.js'
import { createNamed, type FleetRecord, type PolicyRecord } from '../records.js'
import { datesOf } from '../timestamps.js'
import { fail } from '../refusal.js'
import { type HandlersOf, masked, noContent, ok, paged } from './handler.js'
import { findFleet, findPolicy, findVersion, unlinked } from './lookup.js'

const fleetView = (fleet: FleetRecord): Fleet => ({
  name: fleet.name,
  enabled: fleet.enabled,
  ...datesOf(fleet),
})

/** A name conflict is answered by 400, because the document declares no 409 here. */
const fleetTaken = (name: string) => fail(400, `name: there is already a fleet named ${JSON.stringify(name)}`)

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
    return world.fleets.add(fleet) ? ok(fleetView(fleet)) : fleetTaken(name)
  },

  get: ({ fleet_name }, { world }) => {
    return ok(fleetView(findFleet(world, fleet_name)))
  },

  update: ({ fleet_name, name, ...changes }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    if (name !== undefined && !world.fleets.rename(fleet, name)) return fleetTaken(name)
    Object.assign(fleet, dropUndefined(changes), { updatedAt: world.clock.now() })
    world.deployments.reconcileFleets()
    return ok(fleetView(fleet))
  },

  delete: ({ fleet_name }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    world.fleets.delete(fleet)
    world.deployments.reconcileFleets()
    return ok({ message: `fleet ${JSON.stringify(fleet_name)} deleted` })
  },

  list: (wanted, { world }) => {
    const { items, pagination } = paged(world.fleets.values(), wanted, world.pageSizes)
    return ok({ fleets: items.map(fleetView), pagination })
  },

  link: (input, { world }) => {
    const fleet = findFleet(world, input.fleet_name)
    const version = findVersion(world, input)
    const now = world.clock.now()
    const link = fleet.links.get(version) ?? { createdAt: now, updatedAt: now }
    fleet.links.set(version, link)
    world.deployments.reconcileFleets()
    return ok({
      app: version.app.name,
      app_version: version.name,
      fleet: fleet.name,
      ...datesOf(link),
    })
  },

  unlink: (input, { world }) => {
    const fleet = findFleet(world, input.fleet_name)
    const version = findVersion(world, input)
    if (!fleet.links.delete(version)) return unlinked(version, `fleet ${JSON.stringify(fleet.name)}`)
    world.deployments.reconcileFleets()
    return noContent()
  },
}

const policyView = (policy: PolicyRecord): FleetPolicy => ({
  name: policy.name,
  enabled: policy.enabled,
  type: policy.type,
  minimum: policy.minimum,
  maximum: policy.maximum,
  threshold: policy.threshold,
  data: { filters: policy.filters },
  ...datesOf(policy),
})

/** A name conflict is answered by 400, because the document declares no 409 here. */
const policyTaken = (name: string) =>
  fail(400, `name: there is already a policy of this fleet named ${JSON.stringify(name)}`)

/**
 * Fills in a policy's defaults. The default of `enabled` is documented; the others are our choice. Without a maximum,
 * the maximum is ten, or the minimum if that is higher.
 */
function completed(changes: FleetPolicyChanges) {
  const { enabled = true, type = 'Location', minimum = 0, threshold = 1, data } = changes
  return {
    enabled,
    type,
    minimum,
    maximum: changes.maximum ?? Math.max(10, minimum),
    threshold,
    filters: data?.filters ?? [],
  }
}

function assertConsistent(policy: Pick<PolicyRecord, 'minimum' | 'maximum' | 'type' | 'filters'>): void {
  const { minimum, maximum } = policy
  if (minimum > maximum) fail(400, `maximum: must be at least the minimum of ${minimum}, not ${maximum}`)
  policyPlaces(policy)
}

export const policies: HandlersOf<'policies'> = {
  create: ({ fleet_name, name, ...changes }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    const now = world.clock.now()
    const policy: PolicyRecord = { name, ...completed(changes), createdAt: now, updatedAt: now }
    assertConsistent(policy)
    if (!fleet.policies.add(policy)) return policyTaken(name)
    world.deployments.reconcileFleets()
    return ok(policyView(policy))
  },

  list: ({ fleet_name, x_fields, ...wanted }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    const { items, pagination } = paged(fleet.policies.values(), wanted, world.pageSizes)
    return masked({ policies: items.map(policyView), pagination }, x_fields)
  },

  get: (input, { world }) => {
    return ok(policyView(findPolicy(world, input)))
  },

  update: ({ fleet_name, policy_name, name, data, ...changes }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    const policy = findPolicy(world, { fleet_name, policy_name })
    const changed = dropUndefined({ ...changes, filters: data?.filters })
    assertConsistent({ ...policy, ...changed })
    if (name !== undefined && !fleet.policies.rename(policy, name)) return policyTaken(name)
    Object.assign(policy, changed, { updatedAt: world.clock.now() })
    world.deployments.reconcileFleets()
    return ok(policyView(policy))
  },

  delete: ({ fleet_name, policy_name }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    const policy = findPolicy(world, { fleet_name, policy_name })
    fleet.policies.delete(policy)
    world.deployments.reconcileFleets()
    return ok({ message: `policy ${JSON.stringify(policy_name)} deleted` })
  },
}
