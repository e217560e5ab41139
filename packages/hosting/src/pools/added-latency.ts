// pure: the locations of a pool's servers, and how much latency they add for a match
import { type Coordinates, greatCircleKm } from '@muster/core'
import type { Placement, Server } from '../records/index.js'
import type { PoolPlace } from './pool-place.js'

/** What a match, or a player who starts a server, needs of a warm server. */
export interface WarmNeeds {
  /** True if the server must be empty, because the player will list it as their own. Default false. */
  readonly isEmpty?: boolean | undefined
  readonly middle: Coordinates | undefined
  /** The locations that the match's rules choose, the best first. Empty or undefined if none: then near the players. */
  readonly placements: readonly Placement[] | undefined
}

/** Kilometres within which demand counts as one location, and a server as located at a beacon. */
export const SAME_PLACE_KM = 300
/** Kilometres per millisecond of round trip, for light in optical fibre on indirect routes. */
export const KM_PER_MS = 65

/**
 * Returns the milliseconds of round trip that a server at these coordinates adds, compared with the best location.
 * Undefined if a latency rule forbids the coordinates.
 */
export function detourAt(
  at: Coordinates | undefined,
  { middle, placements }: WarmNeeds,
  best: PoolPlace | undefined,
): number | undefined {
  const [first] = placements ?? []
  if (first !== undefined) {
    const here = placements?.find(
      ({ coordinates }) => at !== undefined && greatCircleKm(coordinates, at) <= SAME_PLACE_KM,
    )
    if (here === undefined || (here.limitMs !== undefined && here.worstMs > here.limitMs)) return undefined
    return here.worstMs - first.worstMs
  }
  if (middle === undefined || at === undefined) return 0
  const bestKm = best?.coordinates === undefined ? 0 : greatCircleKm(best.coordinates, middle)
  return Math.max(0, (greatCircleKm(at, middle) - bestKm) / KM_PER_MS)
}

/**
 * Returns the milliseconds of round trip that a warm server adds for a match, compared with the best location.
 * Undefined if a latency rule forbids the server's location.
 */
export function addedLatencyMs(server: Server, needs: WarmNeeds, best: PoolPlace | undefined): number | undefined {
  // The limit of a latency rule is never exceeded: with such a rule, only the location that the service has reported
  // counts.
  const isKnown = server.isLocated || locatedAt(server) !== undefined
  const at = isKnown || (needs.placements?.length ?? 0) === 0 ? locationOf(server) : undefined
  return detourAt(at, needs, best)
}

/** Returns the distance to a location in kilometres. Infinity if either location is unknown. */
export const kmTo = ({ coordinates }: PoolPlace, near: Coordinates | undefined): number =>
  coordinates === undefined || near === undefined ? Infinity : greatCircleKm(coordinates, near)

/** Returns the location of a server as reported, otherwise as requested. Undefined if neither is known. */
export const locationOf = (server: Server): Coordinates | undefined =>
  locatedAt(server) ?? server.tries.at(-1)?.at ?? server.near

const locatedAt = ({ assignment }: Server): Coordinates | undefined => {
  const { latitude, longitude } = assignment?.location ?? {}
  return latitude !== undefined && longitude !== undefined ? { latitude, longitude } : undefined
}

export const isSamePoint = (one: Coordinates | undefined, other: Coordinates): boolean =>
  one?.latitude === other.latitude && one.longitude === other.longitude
