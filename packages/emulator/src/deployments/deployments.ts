import type { Coordinates, Deployment, EnvironmentVariable } from '@muster/core/api'
import type { Place } from '../places.js'
import type { PolicyRecord, VersionRecord } from '../records.js'
import type { DeploymentFault } from './deployment-fault.js'
import type { DeploymentRecord, WebhookTargets } from './deployment-record.js'
import type { StopOutcome } from './deployment-simulator.js'
import type { WebhookFault } from './webhook-fault.js'

/** An order for a deployment, from any of the operations or from a fleet. */
export interface Order {
  readonly version: VersionRecord
  /** The users' locations; a place near them is chosen. */
  readonly users: readonly Coordinates[]
  /** Which places are allowed. Default: all. */
  readonly allows?: ((place: Place) => boolean) | undefined
  /** Whether only places with the image cached are allowed. Default false. */
  readonly cachedOnly?: boolean | undefined
  /** Variables in addition to the version's; for a key in both, these take precedence. */
  readonly variables?: readonly EnvironmentVariable[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly webhooks?: WebhookTargets | undefined
  /** Whether SCANNING is skipped. Default false. */
  readonly skipTelemetry?: boolean | undefined
  /** Replaces the version's command, unless null. */
  readonly command?: string | null | undefined
  /** Replaces the version's arguments, unless null. */
  readonly arguments?: string | null | undefined
  /** The fleet policy that requests the deployment. */
  readonly policy?: PolicyRecord | undefined
  readonly fault?: DeploymentFault | undefined
  readonly webhookFault?: WebhookFault | undefined
}

/** The part of the service that deploys: the state behind `api.deployments`, `api.tags` and the fleets' deployments. */
export interface Deployments {
  /**
   * Creates a deployment, always. If no server could be allocated, the deployment has no site and is in ERROR until
   * stopped (public fact).
   */
  create(order: Order): DeploymentRecord
  /**
   * The deployment's record; undefined for an unknown id, and once `retentionMs` have passed since the deployment
   * ended.
   */
  get(requestId: string): DeploymentRecord | undefined
  /** All deployments that the service remembers, the oldest first. */
  all(): readonly DeploymentRecord[]
  stop(record: DeploymentRecord): StopOutcome
  /** The deployment as the service shows it now. */
  view(record: DeploymentRecord): Deployment
  /** Resolves when the calls to the deployment's ready webhook that have been started so far are over. */
  readyCalled(record: DeploymentRecord): Promise<void>
  /** Deploys what the fleets demand. Called after each change of fleets, policies, links, applications or versions. */
  reconcileFleets(): void
  /** The places where the version could be deployed now. */
  placesWithCapacity(version: VersionRecord): readonly Place[]
  /** The status views of all deployments that the service remembers, the oldest first. */
  list(): readonly Deployment[]
  /**
   * The environment variables of a deployment's container, secrets included: for tests, never by HTTP. Undefined for an
   * unknown id.
   */
  environment(requestId: string): Readonly<Record<string, string>> | undefined
  /**
   * Replaces a deployment's sessions; `sessions` gives the number of users by session id. For tests.
   * @throws RangeError for an unknown deployment, a deployment whose version has no sessions, and more users than the
   *   deployment has sockets.
   */
  setSessions(requestId: string, sessions: Readonly<Record<string, number>>): void
  /** Stops all deployments and containers. */
  close(): Promise<void>
}
