import type { Coordinates, Deployment, EnvironmentVariable } from '@muster/core/api'
import type { Place } from '../places.js'
import type { PolicyRecord, VersionRecord } from '../records.js'
import type { DeploymentFault } from './deployment-fault.js'
import type { DeploymentRecord, WebhookTargets } from './deployment-record.js'
import type { StopOutcome } from './deployment-simulator.js'
import type { WebhookFault } from './webhook-fault.js'

/** What is to be deployed, from whichever operation it came, or from a fleet. */
export interface Order {
  readonly version: VersionRecord
  /** Whom it should be near to. */
  readonly users: readonly Coordinates[]
  /** Which places will do. Default: all. */
  readonly allows?: ((place: Place) => boolean) | undefined
  /** Only where the image is cached. Default false. */
  readonly cachedOnly?: boolean | undefined
  /** In addition to the version's; of two with one key, these win. */
  readonly variables?: readonly EnvironmentVariable[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly webhooks?: WebhookTargets | undefined
  /** Leaves out SCANNING. Default false. */
  readonly skipTelemetry?: boolean | undefined
  /** In place of the version's, unless null. */
  readonly command?: string | null | undefined
  /** In place of the version's, unless null. */
  readonly arguments?: string | null | undefined
  /** The fleet's policy that wants it. */
  readonly policy?: PolicyRecord | undefined
  readonly fault?: DeploymentFault | undefined
  readonly webhookFault?: WebhookFault | undefined
}

/** The part of the service that deploys: the state behind `api.deployments`, `api.tags` and the fleets' deployments. */
export interface Deployments {
  /**
   * Always makes one. Where no server could be allocated, it has no site and is in ERROR until stopped (public fact).
   */
  create(order: Order): DeploymentRecord
  /** Undefined also for one that ended longer than `retentionMs` ago. */
  get(requestId: string): DeploymentRecord | undefined
  /** All that the service remembers, oldest first. */
  all(): readonly DeploymentRecord[]
  stop(record: DeploymentRecord): StopOutcome
  /** As the service shows it now. */
  view(record: DeploymentRecord): Deployment
  /** Resolves when the calls to its ready webhook, as far as they have been started, are over. */
  readyCalled(record: DeploymentRecord): Promise<void>
  /** Called after each change of fleets, policies, links, applications or versions: deploys what they demand. */
  reconcileFleets(): void
  /** Places where this version could be deployed now. */
  placesWithCapacity(version: VersionRecord): readonly Place[]
  /** Status views of all that the service remembers, oldest first. */
  list(): readonly Deployment[]
  /**
   * The variables in a deployment's container, secrets included: for tests, never by HTTP. Undefined for an unknown id.
   */
  environment(requestId: string): Readonly<Record<string, string>> | undefined
  /**
   * Puts a deployment's sessions in place of those it had: the users of each by session id. For tests.
   * @throws RangeError for an unknown deployment, one whose version has no sessions, and more users than it has
   *   sockets.
   */
  setSessions(requestId: string, sessions: Readonly<Record<string, number>>): void
  /** Ends all that runs (containers too). */
  close(): Promise<void>
}
