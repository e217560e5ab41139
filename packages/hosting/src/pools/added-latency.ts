// pure: the locations of pool servers, and their extra latency compared with the best location for a match
import { type Coordinates, greatCircleKm } from '@muster/core'
import type { Placement, Server } from '../records/index.js'
import type { PoolPlace } from './pool-place.js'

/** The requirements of a match, or of a player who starts a server, for a warm server. */
export interface WarmNeeds {
  /**
   * True if nobody may play on the server yet, because it will be listed as the player's own. Default false: it may
   * have other matches.
   */
  readonly isEmpty?: boolean | undefined
  readonly middle: Coordinates | undefined
  /** The locations chosen by the match's rules, the best first. Empty or undefined: near its players. */
  readonly placements: readonly Placement[] | undefined
}

/** Kilometres within which demand counts as one location, and within which a server counts as being at a beacon. */
export const SAME_PLACE_KM = 300
/** Kilometres per millisecond of round trip: light in fibre, both ways, along indirect routes. */
export const KM_PER_MS = 65

/**
 * Returns the extra round trip in milliseconds of a server at these coordinates, compared with the best location.
 * Undefined: it does not fit.
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
 * Returns the extra round trip in milliseconds of a warm server, compared with the best location for a match.
 * Undefined: it does not fit.
 */
export function addedLatencyMs(server: Server, needs: WarmNeeds, best: PoolPlace | undefined): number | undefined {
  // A rule's limit is never exceeded, so a server fits no rule until the service has reported its location.
  const isKnown = server.isLocated || locatedAt(server) !== undefined
  const at = isKnown || (needs.placements?.length ?? 0) === 0 ? locationOf(server) : undefined
  return detourAt(at, needs, best)
}

/** Returns the distance to a location in kilometres. Infinity if either location is unknown. */
export const kmTo = ({ coordinates }: PoolPlace, near: Coordinates | undefined): number =>
  coordinates === undefined || near === undefined ? Infinity : greatCircleKm(coordinates, near)

/** Returns the location of a server: as reported by the service, otherwise as requested. Undefined: unknown. */
export const locationOf = (server: Server): Coordinates | undefined =>
  locatedAt(server) ?? server.tries.at(-1)?.at ?? server.near

const locatedAt = ({ assignment }: Server): Coordinates | undefined => {
  const { latitude, longitude } = assignment?.location ?? {}
  return latitude !== undefined && longitude !== undefined ? { latitude, longitude } : undefined
}

export const isSamePoint = (one: Coordinates | undefined, other: Coordinates): boolean =>
  one?.latitude === other.latitude && one.longitude === other.longitude
