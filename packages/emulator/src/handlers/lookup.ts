import type { DeploymentRecord } from '../deployments/index.js'
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

/** The record that a request names, or a 404 that names what is unknown. */
type RecordOrNotFound<Item> = Item | Failure<404>

/** Returns true if a lookup failed. A type guard, for handlers that begin with `if (isFailure(app)) return app`. */
export const isFailure = <T>(found: T): found is Extract<T, { readonly kind: 'failure' }> =>
  typeof found === 'object' && found !== null && 'kind' in found && found.kind === 'failure'

/** Returns the response for the found record, or the lookup's failure. */
export const ifFound = <Looked, Answer>(
  looked: Looked,
  answer: (item: Exclude<Looked, { readonly kind: 'failure' }>) => Answer,
): Answer | Extract<Looked, { readonly kind: 'failure' }> =>
  isFailure(looked) ? looked : answer(looked as Exclude<Looked, { readonly kind: 'failure' }>)

export const unknown = (what: string, name: string): Failure<404> =>
  fail(404, `there is no ${what} named ${JSON.stringify(name)}`)

/**
 * Creates the response to a name that is taken: 400, for operations that declare no 409. @param what e.g. `a fleet`.
 */
export const nameTaken = (what: string, name: string): Failure<400> =>
  fail(400, `name: there is already ${what} named ${JSON.stringify(name)}`)

export const findApplication = (world: World, name: string): RecordOrNotFound<ApplicationRecord> =>
  world.applications.get(name) ?? unknown('application', name)

export function findVersion(
  world: World,
  input: { readonly app_name: string; readonly version_name: string },
): RecordOrNotFound<VersionRecord> {
  return ifFound(
    findApplication(world, input.app_name),
    ({ name, versions }) =>
      versions.get(input.version_name) ?? unknown(`version of ${JSON.stringify(name)}`, input.version_name),
  )
}

export const findStorage = (world: World, name: string): RecordOrNotFound<StorageRecord> =>
  world.storages.get(name) ?? unknown('endpoint storage', name)

export function findPullProfile(
  world: World,
  input: { readonly endpoint_name: string; readonly pull_profile_name: string },
): RecordOrNotFound<PullProfileRecord> {
  return ifFound(
    findStorage(world, input.endpoint_name),
    ({ name, pullProfiles }) =>
      pullProfiles.get(input.pull_profile_name) ??
      unknown(`pull profile of ${JSON.stringify(name)}`, input.pull_profile_name),
  )
}

export const findFleet = (world: World, name: string): RecordOrNotFound<FleetRecord> =>
  world.fleets.get(name) ?? unknown('fleet', name)

export function findPolicy(
  world: World,
  input: { readonly fleet_name: string; readonly policy_name: string },
): RecordOrNotFound<PolicyRecord> {
  const fleet = findFleet(world, input.fleet_name)
  return isFailure(fleet)
    ? fleet
    : (fleet.policies.get(input.policy_name) ?? unknown(`policy of ${JSON.stringify(fleet.name)}`, input.policy_name))
}

export const unlinked = (version: VersionRecord, to: string): Failure<404> =>
  fail(404, `version ${JSON.stringify(version.name)} of ${JSON.stringify(version.app.name)} is not linked to ${to}`)

/**
 * Finds a deployment by its request_id.
 * @param status 404, or 400 if the operation declares no 404 (public fact).
 */
export const findDeployment = <const Status extends number>(
  world: World,
  requestId: string,
  status: Status,
): DeploymentRecord | Failure<Status> =>
  world.deployments.get(requestId) ?? fail(status, `no such deployment: ${JSON.stringify(requestId)}`)

/**
 * Finds an active version to deploy. For an inactive version, fails with the status `Inactive`. For an unknown name,
 * fails with 400, because no deploy operation declares a 404.
 */
export function findDeployable<const Inactive extends number>(
  world: World,
  name: { readonly app_name: string; readonly version_name: string },
  inactive: Inactive,
): VersionRecord | Failure<400 | Inactive> {
  const version = findVersion(world, name)
  if (isFailure(version)) return fail(400, version.body.message)
  if (!version.app.is_active) return fail(inactive, `application ${JSON.stringify(version.app.name)} is not active`)
  const words = `version ${JSON.stringify(version.name)} of ${JSON.stringify(version.app.name)} is not active`
  return version.is_active ? version : fail(inactive, words)
}
