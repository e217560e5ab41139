import { InvalidInput } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import type { DeploymentUser } from '@muster/core/internal'
import { matchTag, type Player } from '../../records/index.js'
import type { CreateServerRequest } from '../source.js'

/** The common part of all requests of one matchmaker. */
interface Own {
  /** The tag of all deployments of this matchmaker, with which they are found again. */
  readonly tag: string
  /**
   * URL that the service calls when the deployment is READY, in error or terminated. Undefined: it sends no webhooks.
   */
  readonly webhook: string | undefined
}

/**
 * Returns the body of the request that creates a deployment.
 * @throws {InvalidInput} if no player has an address or coordinates, and the location of none of their beacons is
 *   known.
 */
export function deploymentRequest(
  { id, deploy, environment, at, players, cachedOnly }: CreateServerRequest,
  own: Own,
): CreateDeployment {
  const webhook = own.webhook === undefined ? undefined : { url: own.webhook }
  return {
    application: deploy.application,
    version: deploy.version,
    users: at === undefined ? usersOf(players) : [userAt(at)],
    environment_variables: [...environment],
    tags: [own.tag, matchTag(id), ...deploy.tags],
    ...(cachedOnly ? { require_cached_locations: true } : {}),
    ...(webhook && { webhook_on_ready: webhook, webhook_on_error: webhook, webhook_on_terminated: webhook }),
  }
}

/**
 * Returns the users of a deployment, by which the service chooses its location.
 * @throws {InvalidInput} if no player has an address or coordinates, and the location of none of their beacons is
 *   known.
 */
function usersOf(players: readonly Player[]): DeploymentUser[] {
  const users = players.flatMap(userOf)
  if (users.length > 0) return users
  throw new InvalidInput('no player of the match has ip, coordinates, or a beacon with a known location', {
    field: 'users',
  })
}

/** Coordinates are preferred to the IP address because they are more exact than a geolocation database. */
function userOf({ ip, coordinates }: Player): DeploymentUser[] {
  if (coordinates !== undefined) return [userAt(coordinates)]
  return ip === undefined ? [] : [{ user_type: 'ip_address', user_data: { ip_address: ip } }]
}

const userAt = ({ latitude, longitude }: NonNullable<Player['coordinates']>): DeploymentUser => ({
  user_type: 'geo_coordinates',
  user_data: { latitude, longitude },
})
