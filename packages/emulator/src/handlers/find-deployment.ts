import type { VersionRecord } from '../records.js'
import type { DeploymentRecord } from '../deployments/deployment-record.js'
import type { World } from '../world.js'
import { fail, type Failure } from './handler.js'
import { findVersion, isFailure } from './lookup.js'

/** @param status 404, or the 400 that this service answers where it declares no 404 (public fact). */
export const findDeployment = <const Status extends number>(
  world: World,
  requestId: string,
  status: Status,
): DeploymentRecord | Failure<Status> =>
  world.deployments.get(requestId) ?? fail(status, `no such deployment: ${JSON.stringify(requestId)}`)

/**
 * A version that may be deployed now. `Inactive` is the status for one that may not, 400 is for an unknown one: no
 * deploy declares a 404.
 */
export function findDeployable<const Inactive extends number>(
  world: World,
  name: { readonly app_name: string; readonly version_name: string },
  inactive: Inactive,
): VersionRecord | Failure<400 | Inactive> {
  const version = findVersion(world, name)
  if (isFailure(version)) return fail(400, version.body.message)
  if (!version.app.is_active) return fail(inactive, `application ${JSON.stringify(version.app.name)} is not active`)
  if (!version.is_active)
    return fail(
      inactive,
      `version ${JSON.stringify(version.name)} of ${JSON.stringify(version.app.name)} is not active`,
    )
  return version
}
