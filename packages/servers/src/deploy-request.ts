import { InvalidInput } from '@muster/core'
import type { CreateDeployment, EnvironmentVariable } from '@muster/core/api'
import type { DeploymentUser } from '@muster/core/internal'
import { matchEnvironment, oversized, variablesBytes } from './match-environment.js'
import {
  type Allocation,
  type FoundMatch,
  type FoundTicket,
  type Order,
  type Placement,
  type PlacementAttempt,
  type Deploy,
  type Player,
  LARGEST_ENVIRONMENT_BYTES,
} from './records/index.js'

/**
 * The variables that describe a match do not fit into its server's environment. No deployment was created. The failure
 * counts as an attempt of the tickets that take more than their share.
 */
export class MatchTooLarge extends InvalidInput {
  /** Ids of the tickets that take more than their share; empty if the queue's own variables are too large. */
  readonly ticketIds: readonly string[]

  static {
    this.prototype.name = 'MatchTooLarge'
  }

  constructor(message: string, ticketIds: readonly string[]) {
    super(message, { field: 'environment' })
    this.ticketIds = ticketIds
  }
}

/**
 * Checks that the environment of a request fits.
 * @throws {MatchTooLarge}
 */
export function checkSize({ environment_variables = [] }: CreateDeployment, found: FoundMatch): void {
  // Each UTF-16 unit takes at most three bytes of UTF-8, so small environments need not be measured.
  const units = environment_variables.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  if (units * 3 <= LARGEST_ENVIRONMENT_BYTES) return
  const bytes = variablesBytes(environment_variables)
  if (bytes <= LARGEST_ENVIRONMENT_BYTES) return
  throw new MatchTooLarge(
    `environment: the variables of the server have ${bytes} bytes, and at most ${LARGEST_ENVIRONMENT_BYTES} fit`,
    oversized(found),
  )
}

/** The tags by which a deployment is found again: one for all deployments of this matchmaker, one for this attempt. */
interface OwnTags {
  readonly matchmaker: string
  readonly match: string
}

/** Where this matchmaker can be reached; undefined where it cannot. */
interface OwnUrls {
  /** Called when the deployment is READY, in error, or terminated. */
  readonly webhook?: string | undefined
  /** The ticket API, for the server. */
  readonly api?: string | undefined
}

/** The parts of a request that are the same for every placement attempt. */
export interface Wanted {
  readonly found: FoundMatch
  readonly deploy: Deploy
  /** The token of the server: see `ServerKeys`. */
  readonly token: string
  /** The tickets near which the server is wanted. */
  readonly near: readonly FoundTicket[]
  /** Of a server of a pool: its name. The server learns of its matches by registering, and not by its environment. */
  readonly pool: string | undefined
}

/** The body of the request that creates a deployment. */
export function deploymentRequest(
  { found, deploy, token, near, pool }: Wanted,
  { cachedOnly, at }: PlacementAttempt,
  own: OwnTags,
  urls: OwnUrls,
): CreateDeployment {
  const { application, version, environment, hiddenEnvironment, tags, probe } = deploy
  const players = near.flatMap((ticket) => ticket.players)
  const environment_variables = [
    ...(pool === undefined ? matchEnvironment(found) : [{ key: 'MUSTER_POOL', value: pool, is_hidden: false }]),
    ...variables(environment, false),
    ...variables(hiddenEnvironment, true),
    ...(pool === undefined ? [{ key: 'MM_MATCH_SECRET', value: token, is_hidden: true }] : []),
    { key: 'MUSTER_SERVER_TOKEN', value: token, is_hidden: true },
    ...(urls.api === undefined
      ? []
      : ['MM_API_URL', 'MUSTER_URL'].map((key) => ({ key, value: urls.api as string, is_hidden: false }))),
    ...(probe?.kind === 'registration' && pool === undefined
      ? registration(token, probe.url ?? registrationAt(urls.api))
      : []),
  ]
  const webhook = urls.webhook === undefined ? undefined : { url: urls.webhook }
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

/**
 * The users of a deployment, by which the service chooses its place.
 * @throws {InvalidInput} if no player has an address or coordinates, and the place of none of their beacons is known.
 */
function usersOf(players: readonly Player[]): DeploymentUser[] {
  const users = players.flatMap(userOf)
  if (users.length > 0) return users
  throw new InvalidInput(
    'no player of the match has ip or coordinates, and the place of none of their beacons is known',
    { field: 'users' },
  )
}

/** Coordinates are preferred to the IP address: given coordinates are more exact than a database of addresses. */
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

const registration = (token: string, url: string | undefined): EnvironmentVariable[] => [
  { key: 'MM_REGISTRATION_SECRET', value: token, is_hidden: true },
  ...(url === undefined ? [] : [{ key: 'MM_REGISTRATION_URL', value: url, is_hidden: false }]),
]

const registrationAt = (api: string | undefined) => api && `${api}/server-ready`

export const foundMatch = (
  { matchId, queue, at }: Pick<Allocation, 'matchId' | 'queue' | 'at'>,
  order: Order,
  placement?: Placement,
): FoundMatch => {
  const { equality, intersection } = order.inCommon()
  return {
    id: matchId,
    queue,
    tickets: order.tickets,
    teams: order.teams.map(({ name }, team) => ({ name, ticketIds: idsIn(team, order) })),
    foundAt: at,
    expansionMs: order.expansionMs,
    equality,
    intersection,
    placement,
  }
}

const idsIn = (team: number, { tickets, teamOf }: Order): readonly string[] =>
  tickets.flatMap(({ id }, index) => (teamOf[index] === team ? [id] : []))
