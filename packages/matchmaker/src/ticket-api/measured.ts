import type { Coordinates } from '@muster/core'
import { LRUCache } from 'lru-cache'
import type { Locate } from '../tickets/locate/locate.js'
import type { BeaconPlaces } from '../beacons.js'
import type { Beacons } from './beacons.js'
import { distancesFrom, readLatencies, type Latencies } from './latencies.js'

/** Number of latencies of each kind. */
export interface LatencyCounts {
  impossible: number
  unknown: number
  estimated: number
}

export interface Measuring {
  readonly reported: Latencies
  readonly ip: string | undefined
  readonly coordinates: Coordinates | undefined
}

/** The latencies of a player in the ticket; undefined for none. */
export type Measured = (measuring: Measuring) => Latencies | undefined | Promise<Latencies | undefined>

/** Databases give the same place to everyone in a city. */
const PLACES_KEPT = 2000

/**
 * Believes reported latencies as far as they can be true.
 * @param locate finds where an address is. Without it nothing can be estimated or disproved but for those with
 *   coordinates.
 */
export function createMeasured(
  beacons: Beacons | undefined,
  locate: Locate | undefined,
  counts: LatencyCounts,
): Measured {
  let distances = new LRUCache<string, ReturnType<typeof distancesFrom>>({ max: PLACES_KEPT })
  let beaconsThen: BeaconPlaces | undefined

  const distancesTo = (known: BeaconPlaces, place: Coordinates) => {
    if (known !== beaconsThen) {
      beaconsThen = known
      distances = new LRUCache({ max: PLACES_KEPT })
    }
    const key = `${place.latitude},${place.longitude}`
    const kept = distances.get(key)
    if (kept !== undefined) return kept
    const made = distancesFrom(place, known)
    distances.set(key, made)
    return made
  }
  const read = (
    reported: Latencies,
    known: BeaconPlaces | undefined,
    place: Coordinates | undefined,
  ): Latencies | undefined => {
    const to = known === undefined || place === undefined ? undefined : distancesTo(known, place)
    const { latencies, impossible, unknown, estimated } = readLatencies(reported, known, to)
    counts.impossible += impossible
    counts.unknown += unknown
    counts.estimated += estimated
    return Object.keys(latencies).length === 0 ? undefined : latencies
  }

  return ({ reported, ip, coordinates }) => {
    if (beacons === undefined)
      return Object.keys(reported).length === 0 ? undefined : read(reported, undefined, undefined)
    const known = beacons.places()
    const place = coordinates ?? placeOf(ip, locate)
    if (!(known instanceof Promise) && !(place instanceof Promise)) return read(reported, known, place)
    return Promise.all([known, place]).then(([where, at]) => read(reported, where, at))
  }
}

/** The matchmaker asks the same again, and is the one to complain. */
function placeOf(
  ip: string | undefined,
  locate: Locate | undefined,
): Coordinates | undefined | Promise<Coordinates | undefined> {
  if (ip === undefined || locate === undefined) return undefined
  try {
    const place = locate(ip)
    return place instanceof Promise ? place.catch(() => undefined) : place
  } catch {
    return undefined
  }
}
