// pure: what is known about a deployment
import type { DeploymentSession, SessionConfig } from '@muster/core/api'
import type { Named } from '../named.js'
import type { PolicyRecord, VersionRecord } from '../records.js'
import type { Container } from './launch.js'
import type { Life, Plan, StatusName } from './lifecycle.js'
import type { Site } from './sites.js'
import type { WebhookFault } from './webhook-fault.js'

/** A tag of a deployment. Epoch milliseconds. */
export interface TagRecord {
  name: string
  readonly createdAt: number
  updatedAt: number
}

/** Where to post which event. */
export interface WebhookTargets {
  readonly ready?: string | undefined
  readonly error?: string | undefined
  readonly terminated?: string | undefined
}

/** A status that a deployment has come to. */
export interface Step {
  readonly status: StatusName
  /** Epoch milliseconds. */
  readonly at: number
}

/** How a container ended that was not asked to. */
export interface Crash {
  readonly exitCode: number
  readonly logs: string
}

/** What the emulator remembers about one deployment. */
export interface DeploymentRecord {
  /** The request_id. */
  readonly id: string
  readonly version: VersionRecord
  /** registry/image:tag. This and all else that comes from the version is as it was when the deployment was made. */
  readonly image: string
  /** Minutes. */
  readonly maxDuration: number
  readonly sessionConfig: SessionConfig | undefined
  /** Epoch milliseconds, to the microsecond that is shown, so that who queries by what was shown finds it. */
  readonly createdAt: number
  /** Undefined when no server could be allocated. */
  readonly site: Site | undefined
  /** The variables in its container. Holds secrets. */
  readonly environment: Readonly<Record<string, string>>
  /** Which of the variables are not to be shown. */
  readonly hiddenVariables: ReadonlySet<string>
  /** A secret. */
  readonly deleteToken: string
  readonly accessPointId: string
  readonly command: string | null
  readonly arguments: string | null
  readonly webhooks: WebhookTargets
  readonly webhookFault: WebhookFault | undefined
  /** The fleet's policy that wanted it. */
  readonly policy: PolicyRecord | undefined
  readonly tags: Named<TagRecord>
  sessions: ReadonlyMap<string, SessionRecord>
  /** Milliseconds of the service's time between SIGTERM and the container's end, at most. */
  readonly graceMs: number
  plan: Plan
  life: Life
  /** The newest last. */
  readonly history: Step[]
  container: Container | undefined
  crash: Crash | undefined
}

export interface SessionRecord {
  readonly kind: NonNullable<DeploymentSession['kind']>
  /** Connected users: the sockets it uses. */
  readonly users: number
}

/** When it came to that status, in epoch milliseconds; undefined if it never has. */
export const timeOf = (record: DeploymentRecord, status: StatusName): number | undefined =>
  record.history.find((step) => step.status === status)?.at

export const hasBeen = (record: DeploymentRecord, status: StatusName): boolean => timeOf(record, status) !== undefined

/** What it was at that moment; undefined when it did not exist yet. */
export const statusAt = (record: DeploymentRecord, at: number): StatusName | undefined =>
  record.history.findLast((step) => step.at <= at)?.status

/** Sockets that sessions may use; undefined for versions without sessions. */
export const socketsOf = (record: DeploymentRecord): number | undefined => record.sessionConfig?.sockets

export function usedSockets(record: DeploymentRecord): number {
  let used = 0
  for (const { users } of record.sessions.values()) used += users
  return used
}

/** Makes what is invented about a deployment its own: 32 bits from its id. */
export const seedOf = ({ id }: DeploymentRecord): number => parseInt(id.slice(0, 8), 16)
