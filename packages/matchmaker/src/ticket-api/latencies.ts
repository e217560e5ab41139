// pure: which of the latencies that a client reports are believed
import { greatCircleKm, type Coordinates } from '@muster/core'
import type { BeaconPlaces } from '../beacons.js'

/** Round trips in milliseconds by the name of the beacon. */
export type Latencies = Readonly<Record<string, number>>

export interface LatenciesRead {
  readonly latencies: Latencies
  /** Number of reported latencies that are faster than light. */
  readonly impossible: number
  /** Number of reported latencies to unknown beacons. */
  readonly unknown: number
  /** Number of latencies that were estimated from the distance. */
  readonly estimated: number
}

/** Most latencies that a ticket takes per player. */
export const MOST_LATENCIES = 64

/**
 * The speed of light in vacuum, in kilometres per millisecond. Light in fibre has two thirds of it, so a faster report
 * is certainly false.
 */
const LIGHT_KM_PER_MS = 299.792458

/** Kilometres by which the known place of an address or a beacon may be wrong (our choice: a few cities away). */
const SLACK_KM = 200

/**
 * The estimated round trip over a distance, in milliseconds: 10 for the last mile and the machines, and 2 for every 100
 * km. That is twice the time of light through straight fibre, because fibre is not straight (our choice).
 */
export const estimatedMs = (km: number): number => Math.round(10 + 0.02 * km)

/** Whether a round trip is too short for the distance, even over the best connection. */
export const isImpossible = (ms: number, km: number): boolean => ms < (2 * Math.max(0, km - SLACK_KM)) / LIGHT_KM_PER_MS

/** The beacons with their distances from a place in kilometres, nearest first. */
export const distancesFrom = (
  place: Coordinates,
  beacons: BeaconPlaces,
): readonly (readonly [name: string, km: number])[] =>
  Array.from(beacons)
    .flatMap(([name, at]) => (at === undefined ? [] : [[name, greatCircleKm(place, at)] as const]))
    .toSorted((a, b) => a[1] - b[1])

/**
 * Selects the reported latencies that can be true. Where `isRead`, a latency that is missing, not believed, or zero,
 * which clients report for a failed ping, is estimated from the distance if that is known; nearest beacons first.
 * @param reported any numbers.
 * @param beacons undefined if the beacons are unknown: then all positive numbers are accepted.
 * @param distances from `distancesFrom`; undefined if the player's place is unknown.
 * @param isRead whether a rule reads latencies.
 */
export function readLatencies(
  reported: Latencies,
  beacons: BeaconPlaces | undefined,
  distances: ReturnType<typeof distancesFrom> | undefined,
  isRead = true,
): LatenciesRead {
  const kmTo = new Map(distances)
  const latencies = new Map<string, number>()
  let impossible = 0
  let unknown = 0
  for (const [name, ms] of Object.entries(reported)) {
    if (!(ms > 0 && ms < Infinity)) continue
    const km = kmTo.get(name)
    if (beacons !== undefined && !beacons.has(name)) unknown += 1
    else if (km !== undefined && isImpossible(ms, km)) impossible += 1
    else if (latencies.size < MOST_LATENCIES) latencies.set(name, ms)
  }
  const measured = latencies.size
  for (const [name, km] of (isRead ? distances : undefined) ?? []) {
    if (latencies.size === MOST_LATENCIES) break
    if (!latencies.has(name)) latencies.set(name, estimatedMs(km))
  }
  return { latencies: Object.fromEntries(latencies), impossible, unknown, estimated: latencies.size - measured }
}
