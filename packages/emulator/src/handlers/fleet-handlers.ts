import type { Fleet, FleetPolicy } from '@muster/core/api'
import type { FleetPolicyChanges } from '@muster/core/internal'
import { isProblem, policyPlaces } from '../deployments/index.js'
import { dropUndefined } from '../option-values.js'
import { createNamed, type FleetRecord, linkTo, newAt, type PolicyRecord } from '../records.js'
import { datesOf } from '../timestamps.js'
import { fail, type HandlersOf, masked, noContent, ok, paged } from './handler.js'
import { findFleet, findPolicy, findVersion, nameTaken, unlinked, ifFound } from './lookup.js'

const fleetView = (fleet: FleetRecord): Fleet => ({
  name: fleet.name,
  enabled: fleet.enabled,
  ...datesOf(fleet),
})

/** The handlers of fleets. After each change, the fleets' missing deployments are created. */
export const fleets: HandlersOf<'fleets'> = {
  create: ({ name, enabled = false }, { world }) => {
    const dates = newAt(world.clock.now())
    const fleet: FleetRecord = { name, enabled, policies: createNamed<PolicyRecord>(), links: new Map(), ...dates }
    return world.fleets.add(fleet) ? ok(fleetView(fleet)) : nameTaken('a fleet', name)
  },

  get: ({ fleet_name }, { world }) => ifFound(findFleet(world, fleet_name), (fleet) => ok(fleetView(fleet))),

  update: ({ fleet_name, name, ...changes }, { world }) =>
    ifFound(findFleet(world, fleet_name), (fleet) => {
      if (name !== undefined && !world.fleets.rename(fleet, name)) return nameTaken('a fleet', name)
      Object.assign(fleet, dropUndefined(changes), { updatedAt: world.clock.now() })
      world.deployments.reconcileFleets()
      return ok(fleetView(fleet))
    }),

  delete: ({ fleet_name }, { world }) =>
    ifFound(findFleet(world, fleet_name), (fleet) => {
      world.fleets.delete(fleet)
      world.deployments.reconcileFleets()
      return ok({ message: `fleet ${JSON.stringify(fleet_name)} deleted` })
    }),

  list: (wanted, { world }) => {
    const { items, pagination } = paged(world.fleets.values(), wanted, world.pageSizes)
    return ok({ fleets: items.map(fleetView), pagination })
  },

  link: (input, { world }) =>
    ifFound(findFleet(world, input.fleet_name), (fleet) =>
      ifFound(findVersion(world, input), (version) => {
        const link = linkTo(fleet, version, world.clock.now())
        world.deployments.reconcileFleets()
        return ok({ app: version.app.name, app_version: version.name, fleet: fleet.name, ...datesOf(link) })
      }),
    ),

  unlink: (input, { world }) =>
    ifFound(findFleet(world, input.fleet_name), (fleet) =>
      ifFound(findVersion(world, input), (version) => {
        if (!fleet.links.delete(version)) return unlinked(version, `fleet ${JSON.stringify(fleet.name)}`)
        world.deployments.reconcileFleets()
        return noContent()
      }),
    ),
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

const policyTaken = (name: string) => nameTaken('a policy of this fleet', name)

/**
 * Adds the defaults of a policy. The default of `enabled` is documented; the others are our choice. The default maximum
 * is ten, or the minimum if that is higher.
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

function contradiction(policy: Pick<PolicyRecord, 'minimum' | 'maximum' | 'type' | 'filters'>) {
  const { minimum, maximum } = policy
  if (minimum > maximum) return fail(400, `maximum: must be at least the minimum of ${minimum}, not ${maximum}`)
  const wanted = policyPlaces(policy)
  return isProblem(wanted) ? fail(400, wanted.problem) : undefined
}

export const policies: HandlersOf<'policies'> = {
  create: ({ fleet_name, name, ...changes }, { world }) =>
    ifFound(findFleet(world, fleet_name), (fleet) => {
      const policy: PolicyRecord = { fleet, name, ...completed(changes), ...newAt(world.clock.now()) }
      const contradictory = contradiction(policy)
      if (contradictory !== undefined) return contradictory
      if (!fleet.policies.add(policy)) return policyTaken(name)
      world.deployments.reconcileFleets()
      return ok(policyView(policy))
    }),

  list: ({ fleet_name, x_fields, ...wanted }, { world }) =>
    ifFound(findFleet(world, fleet_name), (fleet) => {
      const { items, pagination } = paged(fleet.policies.values(), wanted, world.pageSizes)
      return masked({ policies: items.map(policyView), pagination }, x_fields)
    }),

  get: (input, { world }) => ifFound(findPolicy(world, input), (policy) => ok(policyView(policy))),

  update: ({ fleet_name, policy_name, name, data, ...changes }, { world }) =>
    ifFound(findPolicy(world, { fleet_name, policy_name }), (policy) => {
      const changed = dropUndefined({ ...changes, filters: data?.filters })
      const contradictory = contradiction({ ...policy, ...changed })
      if (contradictory !== undefined) return contradictory
      if (name !== undefined && !policy.fleet.policies.rename(policy, name)) return policyTaken(name)
      Object.assign(policy, changed, { updatedAt: world.clock.now() })
      world.deployments.reconcileFleets()
      return ok(policyView(policy))
    }),

  delete: (input, { world }) =>
    ifFound(findPolicy(world, input), (policy) => {
      policy.fleet.policies.delete(policy)
      world.deployments.reconcileFleets()
      return ok({ message: `policy ${JSON.stringify(policy.name)} deleted` })
    }),
}
