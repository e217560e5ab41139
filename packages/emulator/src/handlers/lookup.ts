import type { DeploymentRecord } from '../deployments/index.js'
import type {
  ApplicationRecord,
  FleetRecord,
  PolicyRecord,
  PullProfileRecord,
  StorageRecord,
  VersionRecord,
} from '../records.js'
import { fail } from '../refusal.js'
import type { World } from '../world.js'

/**
 * Each of these returns the record that a request names, or refuses the request with a message that says which name is
 * unknown: with 404, or with 400 where the operation declares no 404.
 */
type Unknown = 400 | 404

export const unknown = (what: string, name: string, status: Unknown = 404): never =>
  fail(status, `there is no ${what} named ${JSON.stringify(name)}`)

export const findApplication = (world: World, name: string, status: Unknown = 404): ApplicationRecord =>
  world.applications.get(name) ?? unknown('application', name, status)

export function findVersion(
  world: World,
  { app_name, version_name }: { readonly app_name: string; readonly version_name: string },
  status: Unknown = 404,
): VersionRecord {
  const { name, versions } = findApplication(world, app_name, status)
  return versions.get(version_name) ?? unknown(`version of ${JSON.stringify(name)}`, version_name, status)
}

export const findStorage = (world: World, name: string): StorageRecord =>
  world.storages.get(name) ?? unknown('endpoint storage', name)

export function findPullProfile(
  world: World,
  { endpoint_name, pull_profile_name }: { readonly endpoint_name: string; readonly pull_profile_name: string },
): PullProfileRecord {
  const { name, pullProfiles } = findStorage(world, endpoint_name)
  return pullProfiles.get(pull_profile_name) ?? unknown(`pull profile of ${JSON.stringify(name)}`, pull_profile_name)
}

export const findFleet = (world: World, name: string): FleetRecord => world.fleets.get(name) ?? unknown('fleet', name)

export function findPolicy(
  world: World,
  { fleet_name, policy_name }: { readonly fleet_name: string; readonly policy_name: string },
): PolicyRecord {
  const { name, policies } = findFleet(world, fleet_name)
  return policies.get(policy_name) ?? unknown(`policy of ${JSON.stringify(name)}`, policy_name)
}

export const unlinked = (version: VersionRecord, to: string): never =>
  fail(404, `version ${JSON.stringify(version.name)} of ${JSON.stringify(version.app.name)} is not linked to ${to}`)

export const findDeployment = (world: World, requestId: string, status: Unknown = 404): DeploymentRecord =>
  world.deployments.get(requestId) ?? fail(status, `no such deployment: ${JSON.stringify(requestId)}`)

/**
 * Finds an active version to deploy.
 * @param inactive the status for an inactive version.
 */
export function findDeployable(
  world: World,
  name: { readonly app_name: string; readonly version_name: string },
  inactive: number,
): VersionRecord {
  const version = findVersion(world, name, 400)
  const app = JSON.stringify(version.app.name)
  if (!version.app.is_active) return fail(inactive, `application ${app} is not active`)
  if (!version.is_active) return fail(inactive, `version ${JSON.stringify(version.name)} of ${app} is not active`)
  return version
}
