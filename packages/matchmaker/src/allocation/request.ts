// pure: the deployment that a match asks for
import type { CreateDeployment, DeploymentUser, EnvironmentVariable } from '@muster/core/api'
import type { Queue } from '../queue.js'
import { matchTag } from '../tags.js'
import type { Player } from '../tickets/ticket.js'
import { matchEnvironment } from './environment.js'
import type { FoundMatch } from './match.js'

/** @param ownTag the tag of all deployments of this matchmaker. */
export function deploymentRequest(match: FoundMatch, queue: Queue, ownTag: string): CreateDeployment {
  const { application, version, environment, hiddenEnvironment, tags, requireCachedLocations } = queue.deploy
  return {
    application,
    version,
    users: match.tickets.flatMap((ticket) => ticket.players.map(userOf)),
    environment_variables: [
      ...matchEnvironment(match, queue),
      ...variables(environment, false),
      ...variables(hiddenEnvironment, true),
    ],
    tags: [ownTag, matchTag(match.id), ...tags],
    ...(requireCachedLocations ? { require_cached_locations: true } : {}),
  }
}

/** Coordinates count where there are both: whoever gives them knows better than a table of addresses. */
function userOf({ ip, coordinates }: Player): DeploymentUser {
  if (coordinates !== undefined) {
    return { user_type: 'geo_coordinates', user_data: { latitude: coordinates.latitude, longitude: coordinates.longitude } }
  }
  // Every player has one or the other: tickets without are refused.
  return { user_type: 'ip_address', user_data: { ip_address: ip as string } }
}

const variables = (values: Readonly<Record<string, string>>, isHidden: boolean): EnvironmentVariable[] =>
  Object.entries(values).map(([key, value]) => ({ key, value, is_hidden: isHidden }))
