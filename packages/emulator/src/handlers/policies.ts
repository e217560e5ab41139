import type { FleetPolicy, FleetPolicyChanges } from '@muster/core/api'
import { policyPlaces } from '../deployments/policy-places.js'
import { isProblem } from '../deployments/problem.js'
import { dropUndefined } from '../drop-undefined.js'
import { paged } from '../pages.js'
import type { PolicyRecord } from '../records.js'
import { formatA } from '../timestamps.js'
import { fail, ok, type HandlersOf } from './handler.js'
import { findFleet, findPolicy, isFailure } from './lookup.js'
import { masked } from './masked.js'

const view = (policy: PolicyRecord): FleetPolicy => ({
  name: policy.name,
  enabled: policy.enabled,
  type: policy.type,
  minimum: policy.minimum,
  maximum: policy.maximum,
  threshold: policy.threshold,
  data: { filters: policy.filters },
  create_time: formatA(policy.createdAt),
  last_updated: formatA(policy.updatedAt),
})

/** A name conflict is answered by 400, because the document declares no 409 here. */
const taken = (name: string) => fail(400, `name: there is already a policy of this fleet named ${JSON.stringify(name)}`)

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

function contradiction(policy: Pick<PolicyRecord, 'minimum' | 'maximum' | 'type' | 'filters'>) {
  const { minimum, maximum } = policy
  if (minimum > maximum) return fail(400, `maximum: must be at least the minimum of ${minimum}, not ${maximum}`)
  const wanted = policyPlaces(policy)
  return isProblem(wanted) ? fail(400, wanted.problem) : undefined
}

export const policies: HandlersOf<'policies'> = {
  create: ({ fleet_name, name, ...changes }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    if (isFailure(fleet)) return fleet
    const now = world.clock.now()
    const policy: PolicyRecord = { name, ...completed(changes), createdAt: now, updatedAt: now }
    const contradictory = contradiction(policy)
    if (contradictory !== undefined) return contradictory
    if (!fleet.policies.add(policy)) return taken(name)
    world.deployments.reconcileFleets()
    return ok(view(policy))
  },

  list: ({ fleet_name, x_fields, ...wanted }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    if (isFailure(fleet)) return fleet
    const { items, pagination } = paged(fleet.policies.values(), wanted, world.pageSizes)
    return masked({ policies: items.map(view), pagination }, x_fields)
  },

  get: (input, { world }) => {
    const policy = findPolicy(world, input)
    return isFailure(policy) ? policy : ok(view(policy))
  },

  update: ({ fleet_name, policy_name, name, data, ...changes }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    if (isFailure(fleet)) return fleet
    const policy = findPolicy(world, { fleet_name, policy_name })
    if (isFailure(policy)) return policy
    const changed = dropUndefined({ ...changes, filters: data?.filters })
    const contradictory = contradiction({ ...policy, ...changed })
    if (contradictory !== undefined) return contradictory
    if (name !== undefined && !fleet.policies.rename(policy, name)) return taken(name)
    Object.assign(policy, changed, { updatedAt: world.clock.now() })
    world.deployments.reconcileFleets()
    return ok(view(policy))
  },

  delete: ({ fleet_name, policy_name }, { world }) => {
    const fleet = findFleet(world, fleet_name)
    if (isFailure(fleet)) return fleet
    const policy = findPolicy(world, { fleet_name, policy_name })
    if (isFailure(policy)) return policy
    fleet.policies.delete(policy)
    world.deployments.reconcileFleets()
    return ok({ message: `policy ${JSON.stringify(policy_name)} deleted` })
  },
}
