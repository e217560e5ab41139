import { InvalidInput } from '@muster/core'
import type { EnvironmentVariable } from '@muster/core/api'
import { matchEnvironment, oversized, variablesBytes } from './match-environment.js'
import {
  type FoundMatch,
  type Order,
  type Placement,
  type Deploy,
  LARGEST_ENVIRONMENT_BYTES,
  type Server,
} from '../records/index.js'

/**
 * Thrown if the variables that describe a match do not fit into its server's environment. No deployment was created.
 * The failure counts as a failed attempt of the tickets that take more than their share.
 */
export class MatchTooLarge extends InvalidInput {
  /** Ids of the tickets that take more than their share. Empty if the queue's own variables are too large. */
  readonly ticketIds: readonly string[]

  static {
    this.prototype.name = 'MatchTooLarge'
  }

  constructor(message: string, ticketIds: readonly string[]) {
    super(message, { field: 'environment' })
    this.ticketIds = ticketIds
  }
}

/** @throws {MatchTooLarge} if the variables do not fit into an environment */
function checkSize(variables: readonly EnvironmentVariable[], found: FoundMatch): void {
  // A UTF-16 unit takes at most three bytes of UTF-8, so small environments need no measuring.
  const units = variables.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  if (units * 3 <= LARGEST_ENVIRONMENT_BYTES) return
  const bytes = variablesBytes(variables)
  if (bytes <= LARGEST_ENVIRONMENT_BYTES) return
  throw new MatchTooLarge(
    `environment: the variables of the server have ${bytes} bytes, and at most ${LARGEST_ENVIRONMENT_BYTES} fit`,
    oversized(found),
  )
}

/** The data from which a server's environment is built. */
export interface EnvironmentInput {
  readonly found: FoundMatch
  readonly deploy: Deploy
  /** The server's token, see `ServerKeys`. */
  readonly token: string
  /**
   * Name of the server's pool. A server of a pool gets its matches after it has registered, not by its environment.
   * Undefined for a server of a single match.
   */
  readonly pool: string | undefined
  /** Public URL of the ticket API. Undefined if servers cannot reach the API. */
  readonly apiUrl: string | undefined
}

/**
 * Returns all environment variables of a server.
 * @throws {MatchTooLarge}
 */
export function serverEnvironment({
  found,
  deploy,
  token,
  pool,
  apiUrl,
}: EnvironmentInput): readonly EnvironmentVariable[] {
  const { environment, hiddenEnvironment, probe } = deploy
  const all = [
    ...(pool === undefined ? matchEnvironment(found) : [{ key: 'MUSTER_POOL', value: pool, is_hidden: false }]),
    ...variables(environment, false),
    ...variables(hiddenEnvironment, true),
    ...(pool === undefined ? [{ key: 'MM_MATCH_SECRET', value: token, is_hidden: true }] : []),
    { key: 'MUSTER_SERVER_TOKEN', value: token, is_hidden: true },
    ...(apiUrl === undefined
      ? []
      : ['MM_API_URL', 'MUSTER_URL'].map((key) => ({ key, value: apiUrl, is_hidden: false }))),
    ...(probe?.kind === 'registration' && pool === undefined
      ? registration(token, probe.url ?? registrationAt(apiUrl))
      : []),
  ]
  checkSize(all, found)
  return all
}

const variables = (values: Readonly<Record<string, string>>, isHidden: boolean): EnvironmentVariable[] =>
  Object.entries(values).map(([key, value]) => ({ key, value, is_hidden: isHidden }))

const registration = (token: string, url: string | undefined): EnvironmentVariable[] => [
  { key: 'MM_REGISTRATION_SECRET', value: token, is_hidden: true },
  ...(url === undefined ? [] : [{ key: 'MM_REGISTRATION_URL', value: url, is_hidden: false }]),
]

const registrationAt = (api: string | undefined) => api && `${api}/server-ready`

export const foundMatch = (
  { id, queue, at }: Pick<Server, 'id' | 'queue' | 'at'>,
  order: Order,
  placement?: Placement,
): FoundMatch => {
  const { equality, intersection } = order.inCommon()
  return {
    id,
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
