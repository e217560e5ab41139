import { type Coordinates, greatCircleKm } from '@muster/core'
import type { Beacon } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { type BeaconPlaces, type BeaconSource, createBeaconDirectory, degreesOf } from '../beacons.js'
import {
  distancesFrom,
  estimatedMs,
  type Latencies,
  type Locate,
  type Located,
  placeOf,
  readLatencies,
} from '../locate/index.js'
import type { ListedPlace, PingOf } from '@muster/hosting/internal'
import type { BeaconsView } from './schemas.js'
import { orNull } from './ticket-views.js'

/** Accuracy in kilometres above which a location counts as unknown: somewhere in a large country. */
const WIDE_KM = 500

/** Returns the location of an address if it is accurate enough for estimates. */
const knownPlace = (place: Located | undefined): Located | undefined =>
  (place?.accuracyKm ?? 0) > WIDE_KM ? undefined : place

/** Numbers of latencies that were ignored or estimated. */
interface LatencyCounts {
  impossible: number
  unknown: number
  estimated: number
}

interface Measuring {
  readonly reported: Latencies
  readonly ip: string | undefined
  readonly coordinates: Coordinates | undefined
  /** True if a rule of the player's queues reads latencies. Missing latencies are estimated only then. */
  readonly isRead: boolean
}

/** Returns the latencies of a player for the ticket; undefined if there are none. */
export type MeasureLatencies = (measuring: Measuring) => Latencies | undefined | Promise<Latencies | undefined>

/**
 * Creates a function that accepts the reported latencies that can be true, and estimates missing ones.
 * @param locate finds the location of an address. Without it, only latencies of players with coordinates can be
 *   estimated or disproved.
 */
export function createMeasured(
  beacons: Beacons | undefined,
  locate: Locate | undefined,
  counts: LatencyCounts,
): MeasureLatencies {
  const read = (
    reported: Latencies,
    known: BeaconPlaces | undefined,
    place: Located | undefined,
    isRead: boolean,
  ): Latencies | undefined => {
    const to = known === undefined || place === undefined ? undefined : distancesFrom(place, known)
    const { latencies, impossible, unknown, estimated } = readLatencies(reported, known, to, isRead, place?.accuracyKm)
    counts.impossible += impossible
    counts.unknown += unknown
    counts.estimated += estimated
    return Object.keys(latencies).length === 0 ? undefined : latencies
  }

  return ({ reported, ip, coordinates, isRead }) => {
    if ((beacons === undefined || !isRead) && Object.keys(reported).length === 0) return undefined
    if (beacons === undefined) return read(reported, undefined, undefined, isRead)
    const known = beacons.places()
    const place: Located | undefined | Promise<Located | undefined> = coordinates ?? placeOf(ip, locate)
    if (!(known instanceof Promise) && !(place instanceof Promise))
      return read(reported, known, knownPlace(place), isRead)
    return Promise.all([known, place]).then(([where, at]) => read(reported, where, knownPlace(at), isRead))
  }
}

/** The player for whom pings to listed servers are estimated. */
interface PingsWanted {
  /** Round trips in milliseconds that the player has measured, by beacon. */
  readonly reported: Latencies
  readonly ip: string | undefined
}

/** Pings of one player, and a key that is equal for players with equal pings. */
interface Pings {
  readonly key: string
  readonly pingOf: PingOf
}

/** Pings are rounded to this many milliseconds: the order is stable, and nearby players share cached pages. */
const PING_STEP_MS = 10
/** Number of beacons near a server from which its ping is estimated. */
const NEAR_BEACONS = 3

const stepped = (ms: number) => Math.max(1, Math.round(ms / PING_STEP_MS)) * PING_STEP_MS

/**
 * Creates the function that estimates round trips to listed servers. It uses the measured latencies to the beacons
 * nearest to the server and their distance to it, or else the distance from the player's address.
 */
export function createPings(
  beacons: Pick<Beacons, 'places'> | undefined,
  locate: Locate | undefined,
): (wanted: PingsWanted) => Promise<Pings> {
  /** The beacons nearest to each place, for each fetched list of beacons. */
  const nearBeacons = new WeakMap<BeaconPlaces, Map<ListedPlace, ReturnType<typeof distancesFrom>>>()
  const nearest = (place: ListedPlace, known: BeaconPlaces) => {
    let byPlace = nearBeacons.get(known)
    if (byPlace === undefined) nearBeacons.set(known, (byPlace = new Map()))
    let near = byPlace.get(place)
    if (near === undefined) byPlace.set(place, (near = distancesFrom(place, known).slice(0, NEAR_BEACONS)))
    return near
  }
  return async ({ reported, ip }) => {
    const [known, located] = await Promise.all([beacons?.places(), placeOf(ip, locate)])
    const at = knownPlace(located)
    const to = known === undefined || at === undefined ? undefined : distancesFrom(at, known)
    const { latencies } = readLatencies(reported, known, to, false, at?.accuracyKm)
    const measured = new Map(Object.entries(latencies).map(([name, ms]) => [name, stepped(ms)] as const))
    const around = at && { latitude: Math.round(at.latitude), longitude: Math.round(at.longitude) }

    const estimate = (place: ListedPlace): number | undefined => {
      let best = measured.get(place.city ?? '') ?? Infinity
      for (const [name, km] of known === undefined ? [] : nearest(place, known))
        best = Math.min(best, (measured.get(name) ?? Infinity) + estimatedMs(km) - estimatedMs(0))
      if (best === Infinity && around !== undefined) best = estimatedMs(greatCircleKm(around, place))
      return best === Infinity ? undefined : stepped(best)
    }
    /** Estimates by the index of the place; null for a place without an estimate. */
    const found: (number | null)[] = []
    const pingOf: PingOf = ({ place }) => {
      if (place?.number === undefined) return place && estimate(place)
      const before = found[place.number]
      if (before !== undefined) return before ?? undefined
      const ping = estimate(place)
      found[place.number] = ping ?? null
      return ping
    }
    return { key: JSON.stringify([[...measured].toSorted(), around]), pingOf }
  }
}

export interface Beacons {
  /**
   * Returns the beacons for clients.
   * @throws {Problem} 503 if the beacons cannot be fetched.
   */
  view(): Promise<BeaconsView>
  /** Returns the locations of the beacons; undefined while unknown. Waits at most 1 s for a fetch. */
  places(): BeaconPlaces | undefined | Promise<BeaconPlaces | undefined>
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
        throw new Problem(503, 'beacons-unavailable', 'The beacons cannot be read now. Retry later.', {
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
  beacons: list.map((beacon) => ({
    ...orNull(beacon, 'fqdn'),
    public_ip: beacon.host,
    ...orNull(beacon, 'udp_port', 'tcp_port'),
    location: {
      ...orNull(beacon.location, 'city', 'country', 'continent', 'administrative_division', 'timezone'),
      latitude: degreesOf(beacon.location.latitude),
      longitude: degreesOf(beacon.location.longitude),
    },
  })),
})
