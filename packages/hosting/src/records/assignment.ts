// pure: the addresses of servers for players, and why servers ended
import type { Coordinates } from '@muster/core'
import type { Deployment, DeploymentListEntry, DeploymentPort, Location } from '@muster/core/api'

/** Why the tickets of a found match search again. A failed attempt counts towards `maxAttempts` of the queue. */
export type ReturnReason =
  /** Another ticket of the match was cancelled, or a restart or takeover could not continue the match. */
  | 'dissolved'
  /** Players declined the match, did not accept it in time, or left and were not replaced in time. */
  | 'not-accepted'
  /** The match was ended, e.g. by `stopMatch`, before its players had the address. */
  | 'stopped'
  /** No location has capacity (a failed attempt), or the pool may create no server now (not a failed attempt). */
  | 'no-capacity'
  /**
   * The source rejected the create, e.g. because of an unknown version, or the match's pool was removed: a failed
   * attempt. If the create could not be built: a failed attempt only of tickets that are too large.
   */
  | 'refused'
  /** The source accepted no requests, or the store could not be written. Not a failed attempt. */
  | 'unavailable'
  /** The create was not answered, and the server was not found or is gone after a restart. Not a failed attempt. */
  | 'lost'
  /**
   * The server ended before players were sent to it: a failed attempt. If a server of a pool was stopped before it
   * served the match: not a failed attempt.
   */
  | 'failed'
  /** The server was not READY in time: a failed attempt. */
  | 'too-slow'
  /**
   * The server did not answer its probe, or the servers of a pool refused the match or were silent: a failed attempt.
   */
  | 'not-listening'

/** How a server failed: it ended early or in error, was READY too late, did not listen, or crashed during play. */
export type ServerFailure = Extract<ReturnReason, 'failed' | 'too-slow' | 'not-listening'> | 'crashed'

/**
 * Why a server was stopped: a `ReturnReason`, or
 * - `ended`: the deployment ended by itself;
 * - `crashed`: the deployment ended in error after players could be sent to it;
 * - `stopped`: by `stopMatch` or `stopServer`, or because the key of an enrolled server was revoked;
 * - `surplus`: the server was kept warm or was started by players, is empty, and is not needed;
 * - `drained`: the server was draining (see `DrainReason`), and its last match has ended;
 * - `over`: the server reported that the match is over, or no longer reports the match;
 * - `left`: all players have left, by `playersLeft` or by the server's report;
 * - `max-duration`: after the `maxDurationMs` of its queue or pool;
 * - `nobody-joined`: none of the match's players had come after the `joinWithinMs` of its queue;
 * - `closed`: by `close`;
 * - `restarted`: after a restart or takeover, this process cannot continue the server, and no players are on it;
 * - `twin`: one create made several deployments, and players are sent to another one;
 * - `lost`: also for an enrolled server that was silent for too long, or whose name a new process has taken over.
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

/**
 * Why a server gets no further matches:
 * - `own-wish`: the server reports that it drains;
 * - `unhealthy`: the server reported three times in a row that it is unhealthy;
 * - `refused`: the server refused a match;
 * - `surplus`: the server is empty and not needed, or its pool is paused;
 * - `retired`: the server has served as many matches or for as long as its pool allows, or the key with which it
 *   enrolled was removed from the configuration;
 * - `update`: `reconfigure` changed the version or source of its pool or the builds of its key, or removed the pool
 *   (`retired` if one of its matches ends first);
 * - `operator`: by `drainServer`, also before a restart;
 * - `silent`: the server did not reply to the offer of a match, or did not report for too long.
 */
export type DrainReason =
  | 'own-wish'
  | 'unhealthy'
  | 'refused'
  | 'surplus'
  | 'retired'
  | 'update'
  | 'operator'
  | 'silent'

export const ACTIVITIES = [
  'create',
  'find',
  'stop',
  'list',
  'status',
  'probe',
  /** Handling a report of a game server. */
  'server',
  /** Sending the result of a match to the backend. */
  'results',
  'store',
  'locate',
  'beacons',
  'rule',
  'tick',
  /** A listener of an event that threw an error. */
  'listener',
] as const

/** The activity during which a problem occurred. The matchmaker continues after each problem. */
export type Activity = (typeof ACTIVITIES)[number]

/** A port of a server. */
export interface AssignedPort {
  /** The port inside the container. */
  readonly internal: number | undefined
  /** The port to connect to. */
  readonly external: number | undefined
  /** The protocol (TCP, UDP, …) as the application version names it. */
  readonly protocol: string | undefined
  /** `fqdn:external`, as the service reports it. */
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

/** A server's address for players. It is the same for all players of a match and reveals nothing about any of them. */
export interface Assignment {
  /** Id of the server, `aud` of its join tokens. Undefined for a server that an earlier version created. */
  readonly server?: string | undefined
  /** Host name of the server, or its IP address if it has no name. */
  readonly fqdn: string
  readonly publicIp: string | undefined
  /** The server's ports by their names in the application version. */
  readonly ports: Readonly<Record<string, AssignedPort>>
  /** Location of the server. Undefined while unknown, because the service's list does not contain it. */
  readonly location: AssignedLocation | undefined
  /** What the queue's latency rule promises. Undefined without such a rule, or if it could not choose a location. */
  readonly promised?: PromisedLatency | undefined
}

/** The location at which a latency rule had the server created. */
export interface PromisedLatency {
  /** Name of the ping beacon at the location. */
  readonly beacon: string
  /**
   * The limit of the rule for each player's round trip to the beacon, in milliseconds. It reveals nothing about any
   * player. Undefined if the rule sets no limit or was dropped.
   */
  readonly latencyMs: number | undefined
}

/** Returns the address of a deployment. Undefined while the service reports neither a name nor an IP address. */
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

/** Returns a location that has only coordinates and possibly a city. */
export const locationAt = ({ latitude, longitude }: Coordinates, city?: string): AssignedLocation => ({
  city,
  country: undefined,
  continent: undefined,
  administrativeDivision: undefined,
  timezone: undefined,
  latitude,
  longitude,
})

/** A port as reported. `internal` is the port inside the container. Default: the same. */
interface StatedPort {
  readonly port: number
  readonly internal?: number | undefined
  readonly protocol?: string | undefined
}

/** Returns the address of a server that is not a deployment of the service. */
export const assignmentAt = (
  host: string,
  ports: Readonly<Record<string, StatedPort>>,
  location: AssignedLocation | undefined,
): Assignment => ({
  fqdn: host,
  publicIp: undefined,
  ports: Object.fromEntries(
    Object.entries(ports).map(([name, { port, internal = port, protocol = 'UDP' }]) => [
      name,
      { internal, external: port, protocol, link: linkAt(host, port) },
    ]),
  ),
  location,
  promised: undefined,
})

/** Returns host and port, with brackets around an IPv6 address that has none. */
const linkAt = (host: string, port: number) =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`

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

/** Returns a coordinate as a number. The service sometimes sends numbers as strings. */
export function degrees(value: number | string | null | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
