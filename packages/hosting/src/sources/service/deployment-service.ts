import type { CallOptions, Coordinates } from '@muster/core'
import type {
  Beacon,
  ContainerLogs,
  CreateDeployment,
  Deployment,
  DeploymentCreated,
  DeploymentId,
  DeploymentList,
  DeploymentListEntry,
  DeploymentStopped,
  ListDeployments,
  LocationList,
} from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { LRUCache } from 'lru-cache'
import type { ListLocations, StopDeployment } from '@muster/core/internal'

const MS_PER_SECOND = 1000

/**
 * Returns the milliseconds since a deployment's start. Undefined if the service does not report it. The age by
 * `start_time` is wrong if this machine's clock is. So the smaller of the ages by `start_time` and `elapsed_time`
 * counts, and no server is stopped too early. The unit of `elapsed_time` is not documented, and assumed to be seconds
 * (our choice).
 * @param date epoch milliseconds of now by the wall clock, see `dateOf`
 */
export function ageOf(deployment: Deployment | DeploymentListEntry, date: number): number | undefined {
  const { start_time: start } = deployment
  const elapsed = 'elapsed_time' in deployment ? deployment.elapsed_time : undefined
  const ages: number[] = []
  if (typeof elapsed === 'number' && elapsed >= 0) ages.push(elapsed * MS_PER_SECOND)
  const age = date - startOf(start ?? '')
  if (age >= 0) ages.push(age)
  return ages.length === 0 ? undefined : Math.min(...ages)
}

/** Parses `YYYY-MM-DD HH:MM:SS.ffffff` as UTC (our choice) into epoch milliseconds. NaN for any other string. */
const startOf = (time: string): number => Date.parse(`${time.replace(/(\.\d{3})\d*$/, '$1').replace(' ', 'T')}Z`)

/**
 * The part of the deployment service's API that Muster needs. A client's `deployments` implements it. Calls reject
 * with the errors of `@muster/core`. Each call must settle within its `timeoutMs`, because a create that never settles
 * would block others.
 */
export interface DeploymentService {
  create(input: CreateDeployment, options?: CallOptions): Promise<DeploymentCreated>
  get(input: DeploymentId, options?: CallOptions): Promise<Deployment>
  stop(input: StopDeployment, options?: CallOptions): Promise<DeploymentStopped>
  list(input: ListDeployments, options?: CallOptions): Promise<DeploymentList>
  /** Returns the output of a container. Without this method, the logs of failed servers are not read. */
  logs?(input: DeploymentId, options?: CallOptions): Promise<ContainerLogs>
}

/**
 * Priorities of calls that wait for the same rate limit. The highest is sent first. READY is confirmed first, because
 * players wait for it. Lost deployments come next, because they cost money.
 */
export const priorities = { background: -5, routine: 0, find: 5, confirm: 10 } as const

/** Lists the locations where servers can run. A client's `locations` implements it. */
export interface LocationService {
  list(input: ListLocations, options?: CallOptions): Promise<LocationList>
  /** The beacons to which players measure their latency, see the option `beacons`. */
  readonly beacons?: { all(): AsyncIterable<Beacon> } | undefined
}

/** Milliseconds within which the pages of the locations are read. Later pages are ignored (our choice). */
const LOCATIONS_TIMEOUT_MS = 5000
/** Milliseconds for which all matches use the same reading, so that many do not read at once (our choice). */
const LOCATIONS_KEPT_MS = 2000
/** Maximum number of versions whose locations are kept (our choice). */
const MOST_VERSIONS = 100
/** Maximum number of pages, in case the service invents new pages endlessly. */
const MOST_PAGES = 100

type VersionNames = { readonly application: string; readonly version: string }

/**
 * Creates the function that returns the locations with capacity for a version. The service lists only these if both
 * names are given. It decides how many entries a page has (public fact), so all pages are read.
 */
export function createCapacityReader(service: LocationService, clock: Clock) {
  type Reading = { readonly readAt: number; readonly places: Promise<readonly Coordinates[]> }
  const latest = new LRUCache<string, Reading>({ max: MOST_VERSIONS })
  return (names: VersionNames): Promise<readonly Coordinates[]> => {
    const key = JSON.stringify([names.application, names.version])
    const known = latest.get(key)
    if (known !== undefined && clock.now() < known.readAt + LOCATIONS_KEPT_MS) return known.places
    const places = placesWithCapacity(service, names, clock)
    latest.set(key, { readAt: clock.now(), places })
    places.catch(() => latest.delete(key))
    return places
  }
}

async function placesWithCapacity(
  service: LocationService,
  { application, version }: VersionNames,
  clock: Clock,
): Promise<readonly Coordinates[]> {
  const until = clock.now() + LOCATIONS_TIMEOUT_MS
  const places: Coordinates[] = []
  for (let page = 1; page <= MOST_PAGES && clock.now() < until; page += 1) {
    const input = { app: application, version, limit: 100, page }
    const answer = await service.list(input, { timeoutMs: until - clock.now() }).catch((error: unknown) => {
      if (page === 1) throw error
      return undefined
    })
    places.push(...(answer?.locations ?? []).flatMap(placeOf))
    if (answer?.pagination?.has_next !== true) break
  }
  return places
}

function placeOf({ latitude, longitude }: LocationList['locations'][number]): readonly Coordinates[] {
  const place = { latitude: Number(latitude ?? Number.NaN), longitude: Number(longitude ?? Number.NaN) }
  return Number.isFinite(place.latitude) && Number.isFinite(place.longitude) ? [place] : []
}
