import type { CallOptions, Coordinates } from '@muster/core'
import type {
  Beacon,
  CreateDeployment,
  Deployment,
  DeploymentCreated,
  DeploymentId,
  DeploymentList,
  DeploymentStopped,
  ListDeployments,
  ListLocations,
  LocationList,
  StopDeployment,
} from '@muster/core/api'

/**
 * What the matchmaker needs of the service; a client's `deployments` is one. It fails with core's errors, and within
 * the `timeoutMs` it is given: creates that never end would keep others from being sent.
 */
export interface DeploymentService {
  create(input: CreateDeployment, options?: CallOptions): Promise<DeploymentCreated>
  get(input: DeploymentId, options?: CallOptions): Promise<Deployment>
  stop(input: StopDeployment, options?: CallOptions): Promise<DeploymentStopped>
  list(input: ListDeployments, options?: CallOptions): Promise<DeploymentList>
}

/**
 * Which calls go first where they wait for the same rate limit (whole numbers, higher first): a player
 * waits for the confirmation that a server is READY, and money for the finding of a lost one.
 */
export const priorities = { background: -5, routine: 0, find: 5, confirm: 10 } as const

/** Where servers can run; a client's `locations` is one. */
export interface LocationService {
  list(input: ListLocations, options?: CallOptions): Promise<LocationList>
  /** The hosts that players measure their latency to; see the option `beacons`. */
  readonly beacons?: { all(): AsyncIterable<Beacon> } | undefined
}

const LOCATIONS_TIMEOUT_MS = 5000

/**
 * Where there is capacity for a version now, as the service says: with both names given, it leaves the other places
 * out.
 */
export async function placesWithCapacity(
  service: LocationService,
  { application, version }: { readonly application: string; readonly version: string },
): Promise<readonly Coordinates[]> {
  const { locations } = await service.list(
    { app: application, version, limit: 100 },
    { timeoutMs: LOCATIONS_TIMEOUT_MS },
  )
  return locations.flatMap(({ latitude, longitude }) => {
    const place = { latitude: Number(latitude ?? Number.NaN), longitude: Number(longitude ?? Number.NaN) }
    return Number.isFinite(place.latitude) && Number.isFinite(place.longitude) ? place : []
  })
}
