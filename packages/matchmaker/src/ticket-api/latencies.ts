// pure: what may be believed of the latencies that a client has measured
import { greatCircleKm, type Coordinates } from '@muster/core'
import type { BeaconPlaces } from '../beacons.js'

/** Milliseconds by the name of the beacon. */
export type Latencies = Readonly<Record<string, number>>

export interface LatenciesRead {
  readonly latencies: Latencies
  /** Reported ones that are faster than light. */
  readonly impossible: number
  /** Reported ones to beacons that there are not. */
  readonly unknown: number
  /** Beacons for which the distance stands in. */
  readonly estimated: number
}

/** A ticket takes so many per player. */
export const MOST_LATENCIES = 64

/**
 * Kilometres per millisecond, in vacuum. In fibre it is two thirds of that: who is faster than this lies in any case.
 */
const LIGHT_KM_PER_MS = 299.792458

/** Kilometres by which an address, and a beacon, may be elsewhere than is said (our choice: a few cities away). */
const SLACK_KM = 200

/**
 * A round trip over so many kilometres, in milliseconds: 10 for the last mile and the machines, and 2 for every 100 km,
 * twice what light takes through straight fibre, because fibre is not straight (our choice).
 */
export const estimatedMs = (km: number): number => Math.round(10 + 0.02 * km)

/** Whether a round trip is too short for the distance, however well the two are connected. */
export const isImpossible = (ms: number, km: number): boolean => ms < (2 * Math.max(0, km - SLACK_KM)) / LIGHT_KM_PER_MS

/** For someone at a place, the beacons with their distance in kilometres, the nearest first. */
export const distancesFrom = (
  place: Coordinates,
  beacons: BeaconPlaces,
): readonly (readonly [name: string, km: number])[] =>
  Array.from(beacons)
    .flatMap(([name, at]) => (at === undefined ? [] : [[name, greatCircleKm(place, at)] as const]))
    .toSorted((a, b) => a[1] - b[1])

/**
 * Takes what was reported to beacons that there are, as far as it can be true. Zero, which is what clients report when
 * a ping fails, and what is missing or not believed, is estimated from the distance, where that is known; the nearest
 * beacons first.
 * @param reported numbers of any kind.
 * @param beacons undefined where the beacons are not known: then all positive numbers are taken as they are.
 * @param distances from `distancesFrom`; undefined where it is not known where the player is.
 */
export function readLatencies(
  reported: Latencies,
  beacons: BeaconPlaces | undefined,
  distances: ReturnType<typeof distancesFrom> | undefined,
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
  for (const [name, km] of distances ?? []) {
    if (latencies.size === MOST_LATENCIES) break
    if (!latencies.has(name)) latencies.set(name, estimatedMs(km))
  }
  return { latencies: Object.fromEntries(latencies), impossible, unknown, estimated: latencies.size - measured }
}
