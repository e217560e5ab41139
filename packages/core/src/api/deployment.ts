import { z } from 'zod'
import {
  answer,
  Filter,
  flag,
  input,
  integer,
  maybe,
  type Maybe,
  numberOrString,
  type NumberOrString,
  secretHeader,
  segment,
  text,
  timestampA,
  type TimestampA,
} from './fields.js'
import { Location } from './locations.js'

/**
 * Status of a deployment. The statuses and their order are public facts: the specification names only SEEKING,
 * DEPLOYING, READY and ERROR. The service may send others.
 */
export type DeploymentStatus =
  | 'Status.INITIALIZING'
  | 'Status.SEEKING'
  | 'Status.SEEKED'
  | 'Status.SCANNING'
  | 'Status.DEPLOYING'
  | 'Status.READY'
  | 'Status.TERMINATING'
  | 'Status.TERMINATED'
  | 'Status.ERROR'
  | (string & {})

/** The address of a port of a deployment. */
export interface DeploymentPort {
  /** The port players connect to. */
  readonly external?: Maybe<number>
  /** The port inside the container. */
  readonly internal?: Maybe<number>
  /** Protocol as in the version: TCP, UDP, TCP/UDP, HTTP, HTTPS, WS or WSS (public fact). */
  readonly protocol?: Maybe<string>
  /** The port's name in the version, and its key in this object. */
  readonly name?: Maybe<string>
  /** Whether the service terminates TLS in front of the port. */
  readonly tls_upgrade?: Maybe<boolean>
  /** The form of a link is not documented; `fqdn:external` in the emulator. */
  readonly link?: Maybe<string>
  /** The meaning of `proxy` is not documented. */
  readonly proxy?: Maybe<number>
}

/** A session on a session-based deployment. */
export interface DeploymentSession {
  /** Identifies the session. */
  readonly session_id?: Maybe<string>
  /** Status of the session, of the form Status.<NAME>. */
  readonly status?: Maybe<string>
  /** True if the users of the session can connect. */
  readonly ready?: Maybe<boolean>
  /** Whether the session has a deployment. */
  readonly linked?: Maybe<boolean>
  /** Kind of the session. The specification's samples have DEFAULT, SEATS and MATCH. */
  readonly kind?: Maybe<string>
  /** Number of users of the session; documented as a string. */
  readonly user_count?: Maybe<NumberOrString>
}

/** A server instance of one application version: the status view (service-api, Deployment). */
export interface Deployment {
  /** Identifies the deployment. */
  readonly request_id: string
  /** The name players connect to, with an external port. */
  readonly fqdn?: Maybe<string>
  /** The application's name. */
  readonly app_name?: Maybe<string>
  /** The version's name. */
  readonly app_version?: Maybe<string>
  /** Status of the deployment, of the form Status.<NAME>. */
  readonly current_status: DeploymentStatus
  /** The previous status, of the form Status.<NAME>. */
  readonly last_status?: Maybe<DeploymentStatus>
  /** Whether the container runs. */
  readonly running?: Maybe<boolean>
  /** The meaning of `whitelisting_active` is not documented. */
  readonly whitelisting_active?: Maybe<boolean>
  /** When the deployment started, in format A. */
  readonly start_time?: Maybe<TimestampA>
  /** When the deployment was removed, in format A. */
  readonly removal_time?: Maybe<TimestampA>
  /** Time since the start. Its unit is not documented; seconds in the emulator. */
  readonly elapsed_time?: Maybe<number>
  /** Whether the deployment failed. */
  readonly error?: Maybe<boolean>
  /** Why the deployment failed. */
  readonly error_detail?: Maybe<string>
  /** Ports by their names. */
  readonly ports?: Maybe<Readonly<Record<string, DeploymentPort>>>
  /** The address players connect to, with an external port. */
  readonly public_ip?: Maybe<string>
  /** The sessions of the deployment, if the version has sessions. */
  readonly sessions?: Maybe<readonly DeploymentSession[]>
  /** The location where the deployment runs: the seven basic fields. */
  readonly location?: Maybe<Location>
  /** The names of the deployment's tags. */
  readonly tags?: Maybe<readonly string[]>
  /** Number of slots; documented as a string. */
  readonly sockets?: Maybe<NumberOrString>
  /** Number of taken slots; documented as a string. */
  readonly sockets_usage?: Maybe<NumberOrString>
  /** The command that replaces the container's own. */
  readonly command?: Maybe<string>
  /** The arguments that replace the container's own. */
  readonly arguments?: Maybe<string>
  /** Minutes before the automatic stop. */
  readonly max_duration?: Maybe<number>
}

/** A deployment in the list: fewer fields than the status, and `ready` instead of a status. */
export interface DeploymentListEntry {
  /** Identifies the deployment. */
  readonly request_id: string
  /** The name players connect to, with an external port. */
  readonly fqdn?: Maybe<string>
  /** When the deployment started, in format A. */
  readonly start_time?: Maybe<TimestampA>
  /** Whether the deployment is READY. */
  readonly ready?: Maybe<boolean>
  /** The address players connect to, with an external port. */
  readonly public_ip?: Maybe<string>
  /** Ports by their names. */
  readonly ports?: Maybe<Readonly<Record<string, DeploymentPort>>>
  /** The names of the deployment's tags. */
  readonly tags?: Maybe<readonly string[]>
  /** Number of slots; documented as a string. */
  readonly sockets?: Maybe<NumberOrString>
  /** Number of taken slots; documented as a string. */
  readonly sockets_usage?: Maybe<NumberOrString>
  /** Whether a session may still join the deployment. */
  readonly is_joinable_by_session?: Maybe<boolean>
}

const DeploymentPort = answer<DeploymentPort>('DeploymentPort', {
  external: maybe(integer),
  internal: maybe(integer),
  protocol: maybe(text),
  name: maybe(text),
  tls_upgrade: maybe(flag),
  link: maybe(text),
  proxy: maybe(integer),
})

const DeploymentSession = answer<DeploymentSession>('DeploymentSession', {
  session_id: maybe(text),
  status: maybe(text),
  ready: maybe(flag),
  linked: maybe(flag),
  kind: maybe(text),
  user_count: maybe(numberOrString),
})

/** The names of a deployment's tags. An unreadable tag is left out: the others still identify the deployment. */
const tags = maybe(
  z.preprocess(
    (given) => (Array.isArray(given) ? given.filter((tag) => typeof tag === 'string') : given),
    z.array(text),
  ),
)
/** Ports by name. An unreadable port is left out, so that players can still connect to the others. */
const ports = maybe(
  z.preprocess(
    (given) =>
      isObject(given) ? Object.fromEntries(Object.entries(given).filter(([, port]) => isObject(port))) : given,
    z.record(z.string(), DeploymentPort),
  ),
)
const isObject = (given: unknown): given is object =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

export const Deployment = answer<Deployment>('Deployment', {
  request_id: text,
  fqdn: maybe(text),
  app_name: maybe(text),
  app_version: maybe(text),
  current_status: text,
  last_status: maybe(text),
  running: maybe(flag),
  whitelisting_active: maybe(flag),
  start_time: maybe(timestampA),
  removal_time: maybe(timestampA),
  elapsed_time: maybe(integer),
  error: maybe(flag),
  error_detail: maybe(text),
  ports,
  public_ip: maybe(text),
  sessions: maybe(z.array(DeploymentSession)),
  location: maybe(Location),
  tags,
  sockets: maybe(numberOrString),
  sockets_usage: maybe(numberOrString),
  command: maybe(text),
  arguments: maybe(text),
  max_duration: maybe(integer),
})

export const DeploymentListEntry = answer<DeploymentListEntry>('DeploymentListEntry', {
  request_id: text,
  fqdn: maybe(text),
  start_time: maybe(timestampA),
  ready: maybe(flag),
  public_ip: maybe(text),
  ports,
  tags,
  sockets: maybe(numberOrString),
  sockets_usage: maybe(numberOrString),
  is_joinable_by_session: maybe(flag),
})

/** Names a deployment. */
export interface DeploymentId {
  /** The deployment's id. */
  readonly request_id: string
}

/**
 * Where the container's logs go when it stops. True: to the storage of the version. False: nowhere. A name: to this
 * storage.
 */
export type ContainerLogStorage = boolean | string

/** The deployment to stop. */
export interface StopDeployment extends DeploymentId {
  /**
   * Where the container's logs go. True: to the storage of the version. False: nowhere. A name: to this storage. The
   * parameter's name is a setting.
   */
  readonly container_log_storage?: ContainerLogStorage | undefined
}

/**
 * The request by which a container stops itself. All values are in the delete URL and the delete token that the service
 * injects into the container.
 */
export interface SelfStopDeployment extends StopDeployment {
  /** Part of the injected delete URL. */
  readonly access_point_id: string
  /** The delete token injected into the container. Sent unchanged, instead of the account's token. A secret. */
  readonly authorization: string
}

/** The response to a stop. Status 200: the deployment stops now. Status 202: it stops once it is READY or ERROR. */
export interface DeploymentStopped {
  /** A message for people. */
  readonly message?: Maybe<string>
  /** The deployment after the stop. */
  readonly deployment_summary?: Maybe<Deployment>
}

/** The deployments to stop permanently. */
export interface BulkStop {
  /**
   * At least one filter (our choice: an empty list might stop everything). Public facts: fields request_id and
   * deployment_tags.
   */
  readonly filters: readonly Filter[]
}

/** The deployments that will be stopped. */
export interface BulkStopped {
  /** The matching deployments. */
  readonly processable: readonly {
    /** The deployment's id. */
    readonly request_id: string
  }[]
}

export const DeploymentId = input<DeploymentId>('DeploymentId', { request_id: segment })
const containerLogStorage = z
  .union([z.boolean(), z.string().min(1)], { error: 'must be true, false or the name of a storage' })
  .optional()
export const StopDeployment = input<StopDeployment>('StopDeployment', {
  request_id: segment,
  container_log_storage: containerLogStorage,
})
export const SelfStopDeployment = input<SelfStopDeployment>('SelfStopDeployment', {
  request_id: segment,
  access_point_id: segment,
  authorization: secretHeader,
  container_log_storage: containerLogStorage,
})
export const DeploymentStopped = answer<DeploymentStopped>('DeploymentStopped', {
  message: maybe(text),
  deployment_summary: maybe(Deployment),
})
export const BulkStop = input<BulkStop>('BulkStop', { filters: z.array(Filter).min(1) })
export const BulkStopped = answer<BulkStopped>('BulkStopped', {
  processable: z.array(z.looseObject({ request_id: text })),
})
