import type { Coordinates } from '@muster/core'
import type { Beacon } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import type { BeaconPlaces } from './latencies.js'

/** Gives the beacons: `() => client.locations.beacons.all()`. */
export type BeaconSource = () => AsyncIterable<Beacon> | Promise<Iterable<Beacon>>

/** The beacons as clients read them (public fact). */
export interface BeaconsView {
  readonly count: number
  readonly beacons: readonly {
    /** Under the city of its location, clients report their latency to it. */
    readonly location: Readonly<
      Record<'city' | 'country' | 'continent' | 'administrative_division' | 'timezone', string | null> &
        Record<'latitude' | 'longitude', number | null>
    >
    readonly fqdn: string | null
    readonly public_ip: string
    readonly udp_port: number | null
    readonly tcp_port: number | null
  }[]
}

export interface Beacons {
  /** @throws {Problem} 503 if they cannot be had. */
  view(): Promise<BeaconsView>
  /** Where they are; undefined while that is not known. Waits for a fetch, but not long. */
  places(): BeaconPlaces | undefined | Promise<BeaconPlaces | undefined>
  /** Whether the last fetch failed. */
  failing(): boolean
}

interface Fetched {
  readonly view: BeaconsView
  readonly places: BeaconPlaces
  readonly at: number
}

/**
 * Milliseconds for which a list is good (our choice: beacons come and go with months), and after a failed fetch the next is made.
 */
const GOOD_MS = 10 * 60_000
const RETRY_MS = 10_000
/** Milliseconds that the creation of a ticket waits for the first list at most. */
const PATIENCE_MS = 1000
/** Of a source that never ends, so many are taken. */
const MOST_BEACONS = 1000

/**
 * Fetches the beacons when they are first wanted, once for all who want them, and keeps them. While a newer list cannot be had,
 * the old one stays.
 */
export function createBeacons(source: BeaconSource, clock: Clock, onError: (error: unknown) => void): Beacons {
  let fetched: Fetched | undefined
  let flight: Promise<void> | undefined
  let failedAt: number | undefined

  const fetch = async (): Promise<void> => {
    try {
      const list = await take(source())
      fetched = { view: viewOf(list), places: placesOf(list), at: clock.now() }
      failedAt = undefined
    } catch (error) {
      failedAt = clock.now()
      onError(error)
    } finally {
      flight = undefined
    }
  }
  /** The fetch under way, if one is needed. */
  const refresh = (): Promise<void> | undefined => {
    const now = clock.now()
    const fresh = fetched !== undefined && now - fetched.at < GOOD_MS
    const resting = failedAt !== undefined && now - failedAt < RETRY_MS
    if (!fresh && !resting) flight ??= fetch()
    return flight
  }

  return {
    view: async () => {
      const under = refresh()
      if (fetched === undefined) await under
      if (fetched === undefined) {
        throw new Problem(503, 'beacons-unavailable', 'the beacons cannot be had now', { retryAfterMs: RETRY_MS })
      }
      return fetched.view
    },
    places: () => {
      const under = refresh()
      if (fetched !== undefined || under === undefined) return fetched?.places
      return Promise.race([under, clock.sleep(PATIENCE_MS)]).then(() => fetched?.places)
    },
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

/** The service was seen to send numbers as text. */
function degrees(value: number | string | null | undefined): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

const viewOf = (list: readonly Beacon[]): BeaconsView => ({
  count: list.length,
  beacons: list.map(({ host, fqdn, udp_port, tcp_port, location }) => ({
    fqdn: fqdn ?? null,
    public_ip: host,
    udp_port: udp_port ?? null,
    tcp_port: tcp_port ?? null,
    location: {
      city: location.city ?? null,
      country: location.country ?? null,
      continent: location.continent ?? null,
      administrative_division: location.administrative_division ?? null,
      timezone: location.timezone ?? null,
      latitude: degrees(location.latitude),
      longitude: degrees(location.longitude),
    },
  })),
})

/** Existing clients name a beacon by its city (public fact); one without a city goes by its host. */
function placesOf(list: readonly Beacon[]): BeaconPlaces {
  const places = new Map<string, Coordinates | undefined>()
  for (const { host, location } of list) {
    const [latitude, longitude] = [degrees(location.latitude), degrees(location.longitude)]
    const name = location.city ?? host
    const known = latitude !== null && longitude !== null
    if (known || !places.has(name)) places.set(name, known ? { latitude, longitude } : undefined)
  }
  return places
}
