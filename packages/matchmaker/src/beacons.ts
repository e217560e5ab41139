import { type Coordinates, TimedOut } from '@muster/core'
import type { Beacon } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import { degrees } from '@muster/hosting/internal'

/** Fetches the ping beacons of the deployment service, e.g. `() => client.locations.beacons.all()`. */
export type BeaconSource = () => AsyncIterable<Beacon> | Promise<Iterable<Beacon>>

/** Coordinates of the beacons by the name under which clients report latencies to them; undefined if unknown. */
export type BeaconPlaces = ReadonlyMap<string, Coordinates | undefined>

/** The beacons of the deployment service: fetched when first needed, once for all callers, and cached. */
export interface BeaconDirectory {
  /** Returns the beacons, or undefined if none were fetched yet. Waits at most a second for a fetch. */
  known(): KnownBeacons | undefined | Promise<KnownBeacons | undefined>
  /** Returns the beacons. Waits until the fetch ends. */
  fetched(): Promise<KnownBeacons | undefined>
  /** Milliseconds after which a failed fetch is repeated. */
  readonly retryMs: number
  /** Whether the last fetch failed. */
  failing(): boolean
}

export interface KnownBeacons {
  readonly list: readonly Beacon[]
  readonly places: BeaconPlaces
}

/** Milliseconds for which a fetched list is used (our choice: beacons rarely change). */
const GOOD_MS = 10 * 60_000
const RETRY_MS = 10_000
/** Maximum milliseconds that a caller waits for the first list. */
const PATIENCE_MS = 1000
/** Milliseconds after which a fetch counts as failed. Users write sources, so one may never answer (our choice). */
const FETCH_MS = 30_000
/** Maximum number of beacons that are read from a source. */
const MOST_BEACONS = 1000

/** Creates the directory. If a newer list cannot be fetched, it keeps the old one. */
export function createBeaconDirectory(
  source: BeaconSource,
  clock: Clock,
  onError: (error: unknown) => void,
): BeaconDirectory {
  let fetched: (KnownBeacons & { readonly at: number }) | undefined
  let flight: Promise<void> | undefined
  let failedAt: number | undefined

  const fetch = async (): Promise<void> => {
    try {
      const list = await within(take(source()), FETCH_MS, clock)
      if (list === undefined)
        throw new TimedOut('beacons: no list arrived in time', { sent: true, timeoutMs: FETCH_MS })
      fetched = { list, places: placesOf(list), at: clock.now() }
      failedAt = undefined
    } catch (error) {
      failedAt = clock.now()
      onError(error)
    } finally {
      flight = undefined
    }
  }
  /** Returns the running fetch, or starts one if the list is too old. Returns undefined if no fetch is needed. */
  const refresh = (): Promise<void> | undefined => {
    const now = clock.now()
    const fresh = fetched !== undefined && now - fetched.at < GOOD_MS
    const resting = failedAt !== undefined && now - failedAt < RETRY_MS
    if (!fresh && !resting) flight ??= fetch()
    return flight
  }

  return {
    known: () => {
      const under = refresh()
      if (fetched !== undefined || under === undefined) return fetched
      return within(under, PATIENCE_MS, clock).then(() => fetched)
    },
    fetched: async () => {
      const under = refresh()
      if (fetched === undefined) await under
      return fetched
    },
    retryMs: RETRY_MS,
    failing: () => failedAt !== undefined,
  }
}

async function take(beacons: AsyncIterable<Beacon> | Promise<Iterable<Beacon>>): Promise<Beacon[]> {
  const list: Beacon[] = []
  for await (const beacon of beacons instanceof Promise ? await beacons : beacons) {
    if (list.push(beacon) === MOST_BEACONS) break
  }
  return list
}

/** Reads a beacon's coordinate in degrees; null if it is missing or invalid. */
export const degreesOf = (value: number | string | null | undefined): number | null => degrees(value) ?? null

/**
 * Returns the beacons' coordinates by name. A beacon is named by its city, as existing clients do (public fact), or by
 * its host if it has no city.
 */
function placesOf(list: readonly Beacon[]): BeaconPlaces {
  const places = new Map<string, Coordinates | undefined>()
  for (const { host, location } of list) {
    const [latitude, longitude] = [degreesOf(location.latitude), degreesOf(location.longitude)]
    const name = location.city ?? host
    const known = latitude !== null && longitude !== null
    if (known || !places.has(name)) places.set(name, known ? { latitude, longitude } : undefined)
  }
  return places
}
