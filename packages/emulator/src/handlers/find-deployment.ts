import type { VersionRecord } from '../records.js'
import type { DeploymentRecord } from '../deployments/deployment-record.js'
import type { World } from '../world.js'
import { fail, type Failure } from './handler.js'
import { findVersion, isFailure } from './lookup.js'

/**
 * Finds a deployment by its request_id.
 * @param status 404, or 400 where the operation declares no 404 (public fact).
 */
export const findDeployment = <const Status extends number>(
  world: World,
  requestId: string,
  status: Status,
): DeploymentRecord | Failure<Status> =>
  world.deployments.get(requestId) ?? fail(status, `no such deployment: ${JSON.stringify(requestId)}`)

/**
 * Finds an active version to deploy. An inactive version is answered by `Inactive`, an unknown name by 400, because no
 * deploy operation declares a 404.
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
