// pure: the assignment, which tells players where to connect
import type { Deployment, DeploymentListEntry, DeploymentPort, Location } from '@muster/core/api'

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

/**
 * The assignment of a deployment; undefined while the service tells neither name nor address, so that nobody could
 * connect.
 */
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
function degrees(value: number | string | null | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
