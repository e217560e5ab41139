// pure: where servers of pools are, and how much farther that is than the best place for a match
import { type Coordinates, greatCircleKm } from '@muster/core'
import type { Placement, Server } from '../records/index.js'
import type { Place } from './pool-place.js'

/** What a match needs of a warm server, or a player who starts one. */
export interface WarmNeeds {
  /** Whether nobody may play on it yet: it is listed as the player's. Default: it may have other matches. */
  readonly isEmpty?: boolean | undefined
  readonly middle: Coordinates | undefined
  /** That its rules choose, the best first; empty or undefined: near its players. */
  readonly placements: readonly Placement[] | undefined
}

/** Kilometres within which places of the demand are one, and a server counts as being at a beacon. */
export const SAME_PLACE_KM = 300
/** A millisecond of round trip in kilometres: light in fibre, there and back, on roads that are not straight. */
export const KM_PER_MS = 65

/** Milliseconds of round trip that a server at these coordinates adds to the best place; undefined: it does not fit. */
export function detourAt(
  at: Coordinates | undefined,
  { middle, placements }: WarmNeeds,
  best: Place | undefined,
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

/** Where a server is: by the service, or else where it was asked for; undefined: nobody knows. */
export const locationOf = (server: Server): Coordinates | undefined =>
  locatedAt(server) ?? server.tries.at(-1)?.at ?? server.near

export const locatedAt = ({ assignment }: Server): Coordinates | undefined => {
  const { latitude, longitude } = assignment?.location ?? {}
  return latitude !== undefined && longitude !== undefined ? { latitude, longitude } : undefined
}

export const isSamePoint = (one: Coordinates | undefined, other: Coordinates): boolean =>
  one?.latitude === other.latitude && one.longitude === other.longitude
