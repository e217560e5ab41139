// pure: where players connect, and why servers ended
import type { Deployment, DeploymentListEntry, DeploymentPort, Location } from '@muster/core/api'

/**
 * Why a ticket is searching again although a match was found. A reason counts as an attempt of the ticket only if the
 * deployment itself failed.
 */
export type ReturnReason =
  /** Another ticket of the match was cancelled. */
  | 'dissolved'
  /** Other players did not accept the match. */
  | 'not-accepted'
  /** The match was stopped by `stopMatch` before it had a server. */
  | 'stopped'
  /** No server could be allocated. Counts as an attempt. */
  | 'no-capacity'
  /** The service refused the deployment, e.g. because there is no such version. Counts as an attempt. */
  | 'refused'
  /** The service could not be reached, or took no requests: nothing was created. */
  | 'unavailable'
  /** The answer to the create was lost, and no such deployment was found. */
  | 'lost'
  /** The deployment ended in error, or before it was READY. Counts as an attempt. */
  | 'failed'
  /** The deployment was not READY in time. Counts as an attempt. */
  | 'too-slow'
  /** The server was READY, but its probe failed. Counts as an attempt. */
  | 'not-listening'

/** How a server failed: in error or ended too early, READY too late, READY without listening, or in error in play. */
export type ServerFailure = Extract<ReturnReason, 'failed' | 'too-slow' | 'not-listening'> | 'crashed'

/**
 * Why a server was stopped: the reason for which its tickets returned to the search, or
 * - `ended`: the deployment ended by itself;
 * - `crashed`: the deployment ended in error while players were on it;
 * - `stopped`: by `stopMatch`;
 * - `surplus`: it was kept warm, and is not needed;
 * - `drained`: it was to take no match any more, and has none;
 * - `over`: its server said that the match is over;
 * - `left`: all players have left, by `playersLeft`;
 * - `max-duration`: after the `maxDurationMs` of its queue;
 * - `nobody-joined`: none of its players had come after the `joinWithinMs` of its queue;
 * - `closed`: by `close`;
 * - `restarted`: the server was found in the store and no players are on it;
 * - `twin`: the match had another server.
 */
export type StopReason =
  | ReturnReason
  | 'ended'
  | 'crashed'
  | 'over'
  | 'surplus'
  | 'drained'
  | 'left'
  | 'max-duration'
  | 'nobody-joined'
  | 'closed'
  | 'restarted'
  | 'twin'

export const ACTIVITIES = [
  'create',
  'find',
  'stop',
  'list',
  'status',
  'probe',
  /** A game server reported something. */
  'server',
  /** The result of a match was sent to the backend. */
  'results',
  'store',
  'locate',
  'beacons',
  'rule',
  'tick',
  /** A listener of an event failed. */
  'listener',
] as const

/** The activity during which a problem occurred. The matchmaker continues by itself. */
export type Activity = (typeof ACTIVITIES)[number]

/** A port of the server. */
export interface AssignedPort {
  /** The port inside the container. */
  readonly internal: number | undefined
  /** The port to connect to. */
  readonly external: number | undefined
  /** The protocol (TCP, UDP, …) as the application version names it. */
  readonly protocol: string | undefined
  /** The text `fqdn:external`, as the service gives it. */
  readonly link: string | undefined
}

/** Where the server runs. */
export interface AssignedLocation {
  readonly city: string | undefined
  readonly country: string | undefined
  readonly continent: string | undefined
  readonly administrativeDivision: string | undefined
  readonly timezone: string | undefined
  /** Latitude in degrees. */
  readonly latitude: number | undefined
  readonly longitude: number | undefined
}

/**
 * Where players connect. The assignment is the same for every player of the match and tells nothing about any of them.
 */
export interface Assignment {
  /**
   * Id of the server, the audience of its join tokens. Undefined for a server that an earlier version created.
   */
  readonly server?: string | undefined
  /** Host name of the server; its IP address if it has no name. */
  readonly fqdn: string
  readonly publicIp: string | undefined
  /** The server's ports by the names that the application version gives them. */
  readonly ports: Readonly<Record<string, AssignedPort>>
  /** Undefined if the location was not known: the list of deployments does not include it. */
  readonly location: AssignedLocation | undefined
  /**
   * The promise of the queue's latency rule; undefined if the queue has none, or if the rule could not choose a place.
   */
  readonly promised?: PromisedLatency | undefined
}

/** The place at which a latency rule requested the server. */
export interface PromisedLatency {
  /** Name of the ping beacon there. */
  readonly beacon: string
  /**
   * The rule's limit for every player's round trip to the beacon, in milliseconds. As a limit of the rule it reveals
   * nothing about any player. Undefined if the rule sets no limit or was relaxed.
   */
  readonly latencyMs: number | undefined
}

/** Undefined while the service tells neither name nor address, so that nobody could connect. */
export function assignmentOf(deployment: Deployment | DeploymentListEntry): Assignment | undefined {
  const publicIp = deployment.public_ip || undefined
  const fqdn = deployment.fqdn || publicIp
  if (fqdn === undefined) return undefined
  const ports = Object.entries(deployment.ports ?? {}).map(([name, port]) => [name, assignedPort(port)] as const)
  const location = 'location' in deployment ? (deployment.location ?? undefined) : undefined
  return {
    fqdn,
    publicIp,
    ports: Object.fromEntries(ports),
    location: location && assignedLocation(location as Location),
    promised: undefined,
  }
}

const assignedPort = ({ internal, external, protocol, link }: DeploymentPort): AssignedPort => ({
  internal: internal ?? undefined,
  external: external ?? undefined,
  protocol: protocol ?? undefined,
  link: link ?? undefined,
})

const assignedLocation = (location: Location): AssignedLocation => ({
  city: location.city ?? undefined,
  country: location.country ?? undefined,
  continent: location.continent ?? undefined,
  administrativeDivision: location.administrative_division ?? undefined,
  timezone: location.timezone ?? undefined,
  latitude: degrees(location.latitude),
  longitude: degrees(location.longitude),
})

/** A coordinate as a number: the service was seen to send numbers as text. */
export function degrees(value: number | string | null | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
