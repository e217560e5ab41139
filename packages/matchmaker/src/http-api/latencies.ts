import { type Coordinates, greatCircleKm } from '@muster/core'
import type { Beacon } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { type BeaconPlaces, type BeaconSource, createBeaconDirectory, degreesOf } from '../beacons.js'
import { type Locate, type Located, placeOf } from '../locate/mmdb-locate.js'
import type { ListedPlace, PingOf } from '@muster/hosting/internal'
import type { BeaconsView } from './schemas.js'
import { orNull } from './ticket-views.js'

/** Round trips in milliseconds by the name of the beacon. */
export type Latencies = Readonly<Record<string, number>>

interface LatenciesRead {
  readonly latencies: Latencies
  /** Number of reported latencies below the travel time of light. */
  readonly impossible: number
  /** Number of reported latencies to unknown beacons. */
  readonly unknown: number
  /** Number of latencies that were estimated from the distance. */
  readonly estimated: number
}

/** Maximum number of latencies of a player in a ticket. */
export const MOST_LATENCIES = 64

/** Speed of light in vacuum, in kilometres per millisecond. In fibre it is two thirds of that. */
const LIGHT_KM_PER_MS = 299.792458

/** Kilometres by which the known location of an address or a beacon may be wrong (our choice: a few cities away). */
const SLACK_KM = 200

/**
 * Returns the estimated round trip over a distance, in milliseconds: 10 for the last mile and the machines, and 2 for
 * every 100 km. Fibre takes detours, so this is twice the time that light takes through straight fibre (our choice).
 */
export const estimatedMs = (km: number): number => Math.round(10 + 0.02 * km)

/** True if a round trip is shorter than light needs for the distance. */
export const isImpossible = (ms: number, km: number): boolean => ms < (2 * Math.max(0, km - SLACK_KM)) / LIGHT_KM_PER_MS

/** Returns the beacons with their distances from a place in kilometres, nearest first. */
export const distancesFrom = (
  place: Coordinates,
  beacons: BeaconPlaces,
): readonly (readonly [name: string, km: number])[] =>
  Array.from(beacons)
    .flatMap(([name, at]) => (at === undefined ? [] : [[name, greatCircleKm(place, at)] as const]))
    .toSorted((a, b) => a[1] - b[1])

/**
 * Removes latencies that contradict others. Two latencies contradict each other if light cannot travel from one beacon
 * to the player and on to the other beacon in half the sum of both round trips. The latency with the most
 * contradictions is removed first. Among equals, a latency that also contradicts the location of the player's address
 * comes first, then the shortest.
 */
function withoutContradictions(
  measured: ReadonlyMap<string, number>,
  beacons: BeaconPlaces,
  isDoubted: (name: string, ms: number) => boolean,
): Map<string, number> {
  const left = Array.from(measured, ([name, ms]) => ({
    name,
    ms,
    place: beacons.get(name),
    isDoubted: isDoubted(name, ms),
    /** The latencies that contradict this one. Each pair is compared once, so a liar costs no more CPU than others. */
    against: new Set<string>(),
  }))
  for (const [index, one] of left.entries())
    for (const other of left.slice(index + 1)) {
      if (one.place === undefined || other.place === undefined) continue
      if (!isImpossible(one.ms + other.ms, greatCircleKm(one.place, other.place))) continue
      one.against.add(other.name)
      other.against.add(one.name)
    }
  const contradicting = new Set(left.filter(({ against }) => against.size > 0))
  const believed = new Map(measured)
  for (;;) {
    const [worst] = [...contradicting].toSorted(
      (a, b) => b.against.size - a.against.size || Number(b.isDoubted) - Number(a.isDoubted) || a.ms - b.ms,
    )
    if (worst === undefined) return believed
    believed.delete(worst.name)
    contradicting.delete(worst)
    for (const other of contradicting)
      if (other.against.delete(worst.name) && other.against.size === 0) contradicting.delete(other)
  }
}

/**
 * Selects the reported latencies that can be true. A latency is accepted unless it contradicts other latencies. If
 * `isRead`, missing, rejected and zero latencies (clients report zero for a failed ping) are estimated: from the
 * distance, or from the measured beacons if these contradict the player's location. The result is sorted, the shortest
 * first.
 * @param reported any numbers.
 * @param beacons undefined if the beacons are unknown: then all positive numbers are accepted.
 * @param distances from `distancesFrom`; undefined if the player's location is unknown.
 * @param isRead true if a rule reads latencies.
 * @param accuracyKm by how much the player's location may be wrong: estimates are for its farthest point.
 */
export function readLatencies(
  reported: Latencies,
  beacons: BeaconPlaces | undefined,
  distances: ReturnType<typeof distancesFrom> | undefined,
  isRead = true,
  accuracyKm = 0,
): LatenciesRead {
  const kmTo = new Map(distances)
  const measured = new Map<string, number>()
  let unknown = 0
  for (const [name, ms] of Object.entries(reported)) {
    if (!(ms > 0 && ms < Infinity)) continue
    if (beacons !== undefined && !beacons.has(name)) unknown += 1
    else if (measured.size < MOST_LATENCIES) measured.set(name, ms)
  }
  const isDoubted = (name: string, ms: number) => isImpossible(ms, (kmTo.get(name) ?? 0) - accuracyKm)
  const latencies = beacons === undefined ? measured : withoutContradictions(measured, beacons, isDoubted)
  const believed = new Map(latencies)
  const isElsewhere = [...believed].some(([name, ms]) => isDoubted(name, ms))
  const estimates = isElsewhere
    ? estimatesBeside(believed, beacons)
    : distances?.map(([name, km]): NamedLatency => [name, estimatedMs(km + accuracyKm)])
  for (const [name, ms] of (isRead ? estimates : undefined) ?? []) {
    if (latencies.size >= MOST_LATENCIES) break
    if (!latencies.has(name)) latencies.set(name, ms)
  }
  return {
    latencies: Object.fromEntries(latencies),
    impossible: measured.size - believed.size,
    unknown,
    estimated: latencies.size - believed.size,
  }
}

type NamedLatency = readonly [name: string, ms: number]

/**
 * Returns upper bounds of the round trips to unmeasured beacons, from each measured beacon and its distance to the
 * unmeasured one. The shortest come first.
 */
const estimatesBeside = (
  measured: ReadonlyMap<string, number>,
  beacons: BeaconPlaces = new Map(),
): readonly NamedLatency[] =>
  Array.from(beacons)
    .flatMap(([name, at]): NamedLatency[] => {
      if (at === undefined) return []
      const detours = [...measured].flatMap(([near, ms]) => {
        const place = beacons.get(near)
        return place === undefined ? [] : [ms + estimatedMs(greatCircleKm(place, at)) - estimatedMs(0)]
      })
      return detours.length === 0 ? [] : [[name, Math.round(Math.min(...detours))]]
    })
    .toSorted((one, other) => one[1] - other[1])

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
