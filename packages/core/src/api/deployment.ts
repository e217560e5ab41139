import { z } from 'zod'
import {
  flag,
  integer,
  maybe,
  named,
  numberOrString,
  text,
  timestampA,
  type Maybe,
  type NumberOrString,
  type TimestampA,
} from './fields.js'
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
  /** As in the version: TCP, UDP, TCP/UDP, HTTP, HTTPS, WS or WSS (public fact). */
  readonly protocol?: Maybe<string>
  /** The port's name in the version, and the key under which it stands here. */
  readonly name?: Maybe<string>
  /** Whether the service ends TLS in front of the port. */
  readonly tls_upgrade?: Maybe<boolean>
  /** Its form is not shown; `fqdn:external` in the emulator. */
  readonly link?: Maybe<string>
  /** Its meaning is not shown. */
  readonly proxy?: Maybe<number>
}

/** A session on a session-based deployment. */
export interface DeploymentSession {
  /** Identifies the session. */
  readonly session_id?: Maybe<string>
  /** Of the form Status.<NAME>. */
  readonly status?: Maybe<string>
  /** Whether its users can connect. */
  readonly ready?: Maybe<boolean>
  /** Whether it has a deployment. */
  readonly linked?: Maybe<boolean>
  /** Sampled as DEFAULT, SEATS, MATCH. */
  readonly kind?: Maybe<string>
  /** Number of its users; documented as a string. */
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
  /** Of the form Status.<NAME>. */
  readonly current_status: DeploymentStatus
  /** The previous status, of the form Status.<NAME>. */
  readonly last_status?: Maybe<DeploymentStatus>
  /** Whether the container runs. */
  readonly running?: Maybe<boolean>
  /** Its meaning is not shown. */
  readonly whitelisting_active?: Maybe<boolean>
  /** Format A. */
  readonly start_time?: Maybe<TimestampA>
  /** Format A. */
  readonly removal_time?: Maybe<TimestampA>
  /** The unit is not shown; seconds in the emulator. */
  readonly elapsed_time?: Maybe<number>
  /** Whether the deployment failed. */
  readonly error?: Maybe<boolean>
  /** Why it failed. */
  readonly error_detail?: Maybe<string>
  /** By port name. */
  readonly ports?: Maybe<Readonly<Record<string, DeploymentPort>>>
  /** The address players connect to, with an external port. */
  readonly public_ip?: Maybe<string>
  /** Its sessions, if the version has sessions. */
  readonly sessions?: Maybe<readonly DeploymentSession[]>
  /** The location where it runs: the seven basic fields. */
  readonly location?: Maybe<Location>
  /** The names of its tags. */
  readonly tags?: Maybe<readonly string[]>
  /** Number of slots; documented as a string. */
  readonly sockets?: Maybe<NumberOrString>
  /** Number of taken slots; documented as a string. */
  readonly sockets_usage?: Maybe<NumberOrString>
  /** The command given in place of the container's own. */
  readonly command?: Maybe<string>
  /** The arguments given in place of the container's own. */
  readonly arguments?: Maybe<string>
  /** Minutes before the automatic stop. */
  readonly max_duration?: Maybe<number>
}

/** A deployment as the list shows it: fewer fields, and `ready` instead of a status. */
export interface DeploymentListEntry {
  /** Identifies the deployment. */
  readonly request_id: string
  /** The name players connect to, with an external port. */
  readonly fqdn?: Maybe<string>
  /** Format A. */
  readonly start_time?: Maybe<TimestampA>
  /** Whether it is READY. */
  readonly ready?: Maybe<boolean>
  /** The address players connect to, with an external port. */
  readonly public_ip?: Maybe<string>
  /** By port name. */
  readonly ports?: Maybe<Readonly<Record<string, DeploymentPort>>>
  /** The names of its tags. */
  readonly tags?: Maybe<readonly string[]>
  /** Number of slots; documented as a string. */
  readonly sockets?: Maybe<NumberOrString>
  /** Number of taken slots; documented as a string. */
  readonly sockets_usage?: Maybe<NumberOrString>
  /** Whether a session may still join it. */
  readonly is_joinable_by_session?: Maybe<boolean>
}

const DeploymentPort = named<DeploymentPort>('DeploymentPort', z.looseObject({
  external: maybe(integer),
  internal: maybe(integer),
  protocol: maybe(text),
  name: maybe(text),
  tls_upgrade: maybe(flag),
  link: maybe(text),
  proxy: maybe(integer),
}))

const DeploymentSession = named<DeploymentSession>('DeploymentSession', z.looseObject({
  session_id: maybe(text),
  status: maybe(text),
  ready: maybe(flag),
  linked: maybe(flag),
  kind: maybe(text),
  user_count: maybe(numberOrString),
}))

export const Deployment = named<Deployment>('Deployment', z.looseObject({
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
}))

export const DeploymentListEntry = named<DeploymentListEntry>('DeploymentListEntry', z.looseObject({
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
}))
