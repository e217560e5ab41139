import type {
  ApplicationRecord,
  FleetRecord,
  PolicyRecord,
  PullProfileRecord,
  StorageRecord,
  VersionRecord,
} from '../records.js'
import type { World } from '../world.js'
import { fail, type Failure } from './handler.js'

/** The record that a request names, or a 404 that says which name is unknown. */
export type Found<Item> = Item | Failure<404>

/** Whether a lookup failed: a type guard, for handlers that begin `if (isFailure(app)) return app`. */
export const isFailure = <T>(found: T): found is Extract<T, { readonly kind: 'failure' }> =>
  typeof found === 'object' && found !== null && 'kind' in found && found.kind === 'failure'

export const unknown = (what: string, name: string): Failure<404> =>
  fail(404, `there is no ${what} named ${JSON.stringify(name)}`)

export const findApplication = (world: World, name: string): Found<ApplicationRecord> =>
  world.applications.get(name) ?? unknown('application', name)

export function findVersion(
  world: World,
  input: { readonly app_name: string; readonly version_name: string },
): Found<VersionRecord> {
  const app = findApplication(world, input.app_name)
  return isFailure(app)
    ? app
    : (app.versions.get(input.version_name) ?? unknown(`version of ${JSON.stringify(app.name)}`, input.version_name))
}

export const findStorage = (world: World, name: string): Found<StorageRecord> =>
  world.storages.get(name) ?? unknown('endpoint storage', name)

export function findPullProfile(
  world: World,
  input: { readonly endpoint_name: string; readonly pull_profile_name: string },
): Found<PullProfileRecord> {
  const storage = findStorage(world, input.endpoint_name)
  if (isFailure(storage)) return storage
  return (
    storage.pullProfiles.get(input.pull_profile_name) ??
    unknown(`pull profile of ${JSON.stringify(storage.name)}`, input.pull_profile_name)
  )
}

export const findFleet = (world: World, name: string): Found<FleetRecord> =>
  world.fleets.get(name) ?? unknown('fleet', name)

export function findPolicy(
  world: World,
  input: { readonly fleet_name: string; readonly policy_name: string },
): Found<PolicyRecord> {
  const fleet = findFleet(world, input.fleet_name)
  return isFailure(fleet)
    ? fleet
    : (fleet.policies.get(input.policy_name) ?? unknown(`policy of ${JSON.stringify(fleet.name)}`, input.policy_name))
}

export const unlinked = (version: VersionRecord, to: string): Failure<404> =>
  fail(404, `version ${JSON.stringify(version.name)} of ${JSON.stringify(version.app.name)} is not linked to ${to}`)
