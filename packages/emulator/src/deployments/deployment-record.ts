// pure: the emulator's record of a deployment
import type { DeploymentSession } from '@muster/core/internal'
import type { SessionConfig } from '@muster/core/internal'
import type { NamedRecords, PolicyRecord, VersionRecord } from '../records.js'
import type { Container } from './launch-process.js'
import type { Life, DeploymentPlan, StatusName } from './lifecycle.js'
import type { Site } from './placement.js'
import type { WebhookFault } from './webhooks.js'

/** A tag of a deployment. Times are epoch milliseconds. */
export interface TagRecord {
  name: string
  readonly createdAt: number
  updatedAt: number
}

/** The URLs to which the deployment's webhooks are posted, by event. */
export interface WebhookTargets {
  readonly ready?: string | undefined
  readonly error?: string | undefined
  readonly terminated?: string | undefined
}

/** The emulator's record of one deployment. */
export interface DeploymentRecord {
  /** The request_id of the deployment. */
  readonly id: string
  readonly version: VersionRecord
  /**
   * The image as registry/image:tag. All fields that come from the version are copied when the deployment is created.
   */
  readonly image: string
  /** Maximum duration in minutes. */
  readonly maxDuration: number
  readonly sessionConfig: SessionConfig | undefined
  /**
   * Epoch milliseconds, rounded to the microsecond that responses show. A query for the shown time thus finds the
   * deployment.
   */
  readonly createdAt: number
  /** The location of the deployment; undefined if no server could be allocated. */
  readonly site: Site | undefined
  /** The environment variables of the container. Secrets are among them. */
  readonly environment: Readonly<Record<string, string>>
  /** The names of the variables whose values are not shown. */
  readonly hiddenVariables: ReadonlySet<string>
  /** The token with which the container can delete the deployment. It is secret. */
  readonly deleteToken: string
  readonly accessPointId: string
  readonly command: string | null
  readonly arguments: string | null
  readonly webhooks: WebhookTargets
  readonly webhookFault: WebhookFault | undefined
  /** The fleet policy that requested the deployment. */
  readonly policy: PolicyRecord | undefined
  readonly tags: NamedRecords<TagRecord>
  sessions: ReadonlyMap<string, SessionRecord>
  /** Maximum time between SIGTERM and the container's end, in milliseconds of simulated time. */
  readonly graceMs: number
  plan: DeploymentPlan
  life: Life
  /** The statuses reached so far, the newest last, and when they were reached, in epoch milliseconds. */
  readonly history: { readonly status: StatusName; readonly at: number }[]
  container: Container | undefined
  /** How the container ended by itself. */
  crash: { readonly exitCode: number; readonly logs: string } | undefined
}

export interface SessionRecord {
  readonly kind: NonNullable<DeploymentSession['kind']>
  /** Number of connected users, each of whom uses a socket of the session. */
  readonly users: number
}

/** Returns when the deployment reached a status, in epoch milliseconds; undefined if it never did. */
export const timeOf = (record: DeploymentRecord, status: StatusName): number | undefined =>
  record.history.find((step) => step.status === status)?.at

export const hasBeen = (record: DeploymentRecord, status: StatusName): boolean => timeOf(record, status) !== undefined

/** Returns the deployment's status at a time; undefined before it was created. */
export const statusAt = (record: DeploymentRecord, at: number): StatusName | undefined =>
  record.history.findLast((step) => step.at <= at)?.status

/** Returns the number of sockets that sessions may use; undefined for versions without sessions. */
export const socketsOf = (record: DeploymentRecord): number | undefined => record.sessionConfig?.sockets

export function usedSockets(record: DeploymentRecord): number {
  let used = 0
  for (const { users } of record.sessions.values()) used += users
  return used
}

/** Returns a seed for simulated data that is specific to the deployment: 32 bits of its id. */
export const seedOf = ({ id }: DeploymentRecord): number => parseInt(id.slice(0, 8), 16)
