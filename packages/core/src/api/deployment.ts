import { z } from 'zod'
import { flag, integer, maybe, numberOrString, text, timestampA, type Maybe, type NumberOrString, type TimestampA } from './fields.js'
import { Location } from './locations.js'

/** Set and order are public facts; the specification names SEEKING, DEPLOYING, READY and ERROR. Others may come. */
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

/** Where to reach a port of a deployment. */
export interface DeploymentPort {
  /** The port players connect to. */
  readonly external?: Maybe<number>
  /** The port inside the container. */
  readonly internal?: Maybe<number>
  readonly protocol?: Maybe<string>
  readonly name?: Maybe<string>
  readonly tls_upgrade?: Maybe<boolean>
  /** `fqdn:external`. */
  readonly link?: Maybe<string>
  readonly proxy?: Maybe<number>
}

/** A session on a session-based deployment. */
export interface DeploymentSession {
  readonly session_id?: Maybe<string>
  readonly status?: Maybe<string>
  readonly ready?: Maybe<boolean>
  readonly linked?: Maybe<boolean>
  /** Sampled as DEFAULT, SEATS, MATCH. */
  readonly kind?: Maybe<string>
  readonly user_count?: Maybe<NumberOrString>
}

/** A server instance of one application version: the status view (service-api, Deployment). */
export interface Deployment {
  readonly request_id: string
  readonly fqdn?: Maybe<string>
  readonly app_name?: Maybe<string>
  readonly app_version?: Maybe<string>
  readonly current_status: DeploymentStatus
  readonly last_status?: Maybe<DeploymentStatus>
  readonly running?: Maybe<boolean>
  readonly whitelisting_active?: Maybe<boolean>
  /** Format A. */
  readonly start_time?: Maybe<TimestampA>
  /** Format A. */
  readonly removal_time?: Maybe<TimestampA>
  /** The unit is not shown; seconds in the emulator. */
  readonly elapsed_time?: Maybe<number>
  readonly error?: Maybe<boolean>
  readonly error_detail?: Maybe<string>
  /** By port name. */
  readonly ports?: Maybe<Readonly<Record<string, DeploymentPort>>>
  readonly public_ip?: Maybe<string>
  readonly sessions?: Maybe<readonly DeploymentSession[]>
  readonly location?: Maybe<Location>
  readonly tags?: Maybe<readonly string[]>
  readonly sockets?: Maybe<NumberOrString>
  readonly sockets_usage?: Maybe<NumberOrString>
  readonly command?: Maybe<string>
  readonly arguments?: Maybe<string>
  /** Minutes. */
  readonly max_duration?: Maybe<number>
}

/** A deployment as the list shows it: fewer fields, and `ready` instead of a status. */
export interface DeploymentListEntry {
  readonly request_id: string
  readonly fqdn?: Maybe<string>
  /** Format A. */
  readonly start_time?: Maybe<TimestampA>
  readonly ready?: Maybe<boolean>
  readonly public_ip?: Maybe<string>
  /** By port name. */
  readonly ports?: Maybe<Readonly<Record<string, DeploymentPort>>>
  readonly tags?: Maybe<readonly string[]>
  readonly sockets?: Maybe<NumberOrString>
  readonly sockets_usage?: Maybe<NumberOrString>
  readonly is_joinable_by_session?: Maybe<boolean>
}

const DeploymentPort: z.ZodType<DeploymentPort> = z.looseObject({
  external: maybe(integer),
  internal: maybe(integer),
  protocol: maybe(text),
  name: maybe(text),
  tls_upgrade: maybe(flag),
  link: maybe(text),
  proxy: maybe(integer),
})

const DeploymentSession: z.ZodType<DeploymentSession> = z.looseObject({
  session_id: maybe(text),
  status: maybe(text),
  ready: maybe(flag),
  linked: maybe(flag),
  kind: maybe(text),
  user_count: maybe(numberOrString),
})

export const Deployment: z.ZodType<Deployment> = z.looseObject({
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
  ports: maybe(z.record(z.string(), DeploymentPort)),
  public_ip: maybe(text),
  sessions: maybe(z.array(DeploymentSession)),
  location: maybe(Location),
  tags: maybe(z.array(text)),
  sockets: maybe(numberOrString),
  sockets_usage: maybe(numberOrString),
  command: maybe(text),
  arguments: maybe(text),
  max_duration: maybe(integer),
})

export const DeploymentListEntry: z.ZodType<DeploymentListEntry> = z.looseObject({
  request_id: text,
  fqdn: maybe(text),
  start_time: maybe(timestampA),
  ready: maybe(flag),
  public_ip: maybe(text),
  ports: maybe(z.record(z.string(), DeploymentPort)),
  tags: maybe(z.array(text)),
  sockets: maybe(numberOrString),
  sockets_usage: maybe(numberOrString),
  is_joinable_by_session: maybe(flag),
})
