import { InvalidInput } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import type { DeploymentUser } from '@muster/core/internal'
import { serverTag, type Player } from '../../records/index.js'
import type { CreateServerRequest } from '../source.js'

/** What all deployments of a matchmaker have in common. */
interface Own {
  /** The tag that all deployments of this matchmaker have. */
  readonly tag: string
  /** URL that the service calls when the deployment is READY, has failed or has ended. Undefined: no webhooks. */
  readonly webhook: string | undefined
}

/**
 * Returns the body of the request that creates a deployment.
 * @throws {InvalidInput} if neither a player's address or coordinates nor the location of a beacon is known
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
    tags: [own.tag, serverTag(id), ...deploy.tags],
    ...(cachedOnly ? { require_cached_locations: true } : {}),
    ...(webhook && { webhook_on_ready: webhook, webhook_on_error: webhook, webhook_on_terminated: webhook }),
  }
}

/**
 * Returns the users of a deployment. The service creates the deployment near them.
 * @throws {InvalidInput} if neither a player's address or coordinates nor the location of a beacon is known
 */
function usersOf(players: readonly Player[]): DeploymentUser[] {
  const users = players.flatMap(userOf)
  if (users.length > 0) return users
  throw new InvalidInput('no player of the match has ip, coordinates, or a beacon with a known location', {
    field: 'users',
  })
}

/** Coordinates take precedence, because the service locates IP addresses less exactly. */
function userOf({ ip, coordinates }: Player): DeploymentUser[] {
  if (coordinates !== undefined) return [userAt(coordinates)]
  return ip === undefined ? [] : [{ user_type: 'ip_address', user_data: { ip_address: ip } }]
}

const userAt = ({ latitude, longitude }: NonNullable<Player['coordinates']>): DeploymentUser => ({
  user_type: 'geo_coordinates',
  user_data: { latitude, longitude },
})
