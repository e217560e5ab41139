import { type Coordinates, greatCircleKm } from '@muster/core'
import type { BeaconPlaces } from '../beacons.js'

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
 * via the player to the other in half the sum of the two round trips. The latency with the most contradictions is
 * removed first. Among equals, a latency that also contradicts the location of the player's address comes first, then
 * the shortest.
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
 * `isRead`, missing, rejected and zero latencies are estimated; a client reports zero for a failed ping. Estimates
 * follow from the distance, or from the measured beacons if these contradict the player's location. The result is
 * sorted, the shortest first.
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
 * Returns upper bounds of the round trips to unmeasured beacons, the shortest first. Each bound follows from a measured
 * beacon and its distance to the unmeasured beacon.
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
