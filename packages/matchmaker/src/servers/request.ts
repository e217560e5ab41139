import { InvalidInput } from '@muster/core'
import type { CreateDeployment, DeploymentUser, EnvironmentVariable } from '@muster/core/api'
import type { Player } from '../player.js'
import type { Deploy } from './records/deploy.js'
import { matchEnvironment } from './environment.js'
import type { FoundMatch, PlacementAttempt } from './records/allocation.js'

/** The tags by which a deployment is found again: of all deployments of this matchmaker, and of this try. */
export interface OwnTags {
  readonly matchmaker: string
  readonly match: string
}

/** All that a request is made of, but for what a try adds. */
export interface Wanted {
  readonly found: FoundMatch
  readonly deploy: Deploy
  readonly secret: string
}

/** @param webhookUrl called when it is READY, in error, or terminated; undefined for no webhooks. */
export function deploymentRequest(
  { found, deploy, secret }: Wanted,
  { cachedOnly, at }: PlacementAttempt,
  own: OwnTags,
  webhookUrl: string | undefined,
): CreateDeployment {
  const { application, version, environment, hiddenEnvironment, tags, probe } = deploy
  const players = found.tickets.flatMap((ticket) => ticket.players)
  const environment_variables = [
    ...matchEnvironment(found),
    ...variables(environment, false),
    ...variables(hiddenEnvironment, true),
    ...(probe?.kind === 'registration' ? registration(secret, probe.url) : []),
  ]
  const webhook = webhookUrl === undefined ? undefined : { url: webhookUrl }
  return {
    application,
    version,
    users: at === undefined ? usersOf(players) : [userAt(at)],
    environment_variables,
    tags: [own.matchmaker, own.match, ...tags],
    ...(cachedOnly ? { require_cached_locations: true } : {}),
    ...(webhook && { webhook_on_ready: webhook, webhook_on_error: webhook, webhook_on_terminated: webhook }),
  }
}

/** @throws {InvalidInput} if it is not known where any of them is, nor where a beacon of theirs is. */
function usersOf(players: readonly Player[]): DeploymentUser[] {
  const users = players.flatMap(userOf)
  if (users.length > 0) return users
  throw new InvalidInput(
    'no player of the match has ip or coordinates, and the place of none of their beacons is known',
    { field: 'users' },
  )
}

/** Coordinates count where there are both: whoever gives them knows better than a table of addresses. */
function userOf({ ip, coordinates }: Player): DeploymentUser[] {
  if (coordinates !== undefined) return [userAt(coordinates)]
  return ip === undefined ? [] : [{ user_type: 'ip_address', user_data: { ip_address: ip } }]
}

const userAt = ({ latitude, longitude }: NonNullable<Player['coordinates']>): DeploymentUser => ({
  user_type: 'geo_coordinates',
  user_data: { latitude, longitude },
})

const variables = (values: Readonly<Record<string, string>>, isHidden: boolean): EnvironmentVariable[] =>
  Object.entries(values).map(([key, value]) => ({ key, value, is_hidden: isHidden }))

const registration = (secret: string, url: string | undefined): EnvironmentVariable[] => [
  { key: 'MM_REGISTRATION_SECRET', value: secret, is_hidden: true },
  ...(url === undefined ? [] : [{ key: 'MM_REGISTRATION_URL', value: url, is_hidden: false }]),
]
