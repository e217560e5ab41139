// pure: the place nearest to a group of users
import { greatCircleKm, type Coordinates } from '@muster/core/api'
import type { Place } from '../places.js'

/**
 * The place with the smallest mean great-circle distance to the users; the first of equals. The mean treats all players
 * alike, and unlike the users' midpoint it is defined for any locations. Without users, the first place.
 */
export function nearest(candidates: readonly Place[], users: readonly Coordinates[]): Place | undefined {
  let best: Place | undefined
  let bestKm = Infinity
  for (const place of candidates) {
    let km = 0
    for (const user of users) km += greatCircleKm(place.location, user)
    if (best !== undefined && km >= bestKm) continue
    best = place
    bestKm = km
  }
  return best
}
