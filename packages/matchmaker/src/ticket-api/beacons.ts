import type { Beacon } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { createBeaconDirectory, degreesOf, type BeaconPlaces, type BeaconSource } from '../beacons.js'

/** The ping beacons as clients read them (public fact). */
export interface BeaconsView {
  readonly count: number
  readonly beacons: readonly {
    /** The beacon's location. Clients report their latency to the beacon under its city. */
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
  /**
   * The beacons for clients.
   * @throws {Problem} 503 if the beacons cannot be fetched.
   */
  view(): Promise<BeaconsView>
  /** The places of the beacons; undefined while unknown. Waits for a fetch, but not long. */
  places(): BeaconPlaces | undefined | Promise<BeaconPlaces | undefined>
  /** Whether the last fetch of the beacons failed. */
  failing(): boolean
}

export function createBeacons(source: BeaconSource, clock: Clock, onError: (error: unknown) => void): Beacons {
  const directory = createBeaconDirectory(source, clock, onError)
  let seen: readonly Beacon[] | undefined
  let view: BeaconsView | undefined

  return {
    view: async () => {
      const known = await directory.fetched()
      if (known === undefined) {
        throw new Problem(503, 'beacons-unavailable', 'the beacons cannot be had now', {
          retryAfterMs: directory.retryMs,
        })
      }
      if (view === undefined || seen !== known.list) view = viewOf(known.list)
      seen = known.list
      return view
    },
    places: () => {
      const known = directory.known()
      return known instanceof Promise ? known.then((found) => found?.places) : known?.places
    },
    failing: directory.failing,
  }
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
      latitude: degreesOf(location.latitude),
      longitude: degreesOf(location.longitude),
    },
  })),
})
