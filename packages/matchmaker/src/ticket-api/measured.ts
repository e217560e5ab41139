import type { Coordinates } from '@muster/core'
import { LRUCache } from 'lru-cache'
import type { Locate } from '../tickets/locate/mmdb-locate.js'
import type { BeaconPlaces } from '../beacons.js'
import type { Beacons } from './beacons.js'
import { distancesFrom, readLatencies, type Latencies } from './latencies.js'

/** Numbers of latencies that were ignored or estimated. */
export interface LatencyCounts {
  impossible: number
  unknown: number
  estimated: number
}

export interface Measuring {
  readonly reported: Latencies
  readonly ip: string | undefined
  readonly coordinates: Coordinates | undefined
  /** Whether a rule of the player's queues reads latencies: only then missing ones are estimated. */
  readonly isRead: boolean
}

/** Makes the latencies of a player for the ticket; undefined if there are none. */
export type Measured = (measuring: Measuring) => Latencies | undefined | Promise<Latencies | undefined>

/** Most places whose distances are cached. Databases give the same place for all addresses of a city. */
const PLACES_KEPT = 2000

/**
 * Creates a function that accepts the reported latencies that can be true, and estimates missing ones.
 * @param locate finds the place of an address. Without it, only latencies of players with coordinates can be estimated
 *   or disproved.
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
    isRead: boolean,
  ): Latencies | undefined => {
    const to = known === undefined || place === undefined ? undefined : distancesTo(known, place)
    const { latencies, impossible, unknown, estimated } = readLatencies(reported, known, to, isRead)
    counts.impossible += impossible
    counts.unknown += unknown
    counts.estimated += estimated
    return Object.keys(latencies).length === 0 ? undefined : latencies
  }

  return ({ reported, ip, coordinates, isRead }) => {
    if ((beacons === undefined || !isRead) && isEmpty(reported)) return undefined
    if (beacons === undefined) return read(reported, undefined, undefined, isRead)
    const known = beacons.places()
    const place = coordinates ?? placeOf(ip, locate)
    if (!(known instanceof Promise) && !(place instanceof Promise)) return read(reported, known, place, isRead)
    return Promise.all([known, place]).then(([where, at]) => read(reported, where, at, isRead))
  }
}

function isEmpty(reported: Latencies): boolean {
  for (const beacon in reported) if (Object.hasOwn(reported, beacon)) return false
  return true
}

/**
 * The place of an address; undefined if `locate` fails. For a ticket, the matchmaker calls `locate` again and reports
 * its failure.
 */
export function placeOf(
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
