// pure: where to ask for a server, and where else when there is no capacity
import { greatCircleKm, type Coordinates } from '@muster/core'
import { middleOf } from '../places.js'
import type { FoundMatch, PlacementAttempt } from './records/allocation.js'

/** Creates for one match at most; then its tickets return to the queue. */
const MOST_TRIES = 4

export const firstAttempt = (requireCachedLocations: boolean): PlacementAttempt => ({ cachedOnly: requireCachedLocations, at: undefined })

/**
 * What to ask for next: first anywhere, if only cached locations were wanted; then place by place those that have
 * capacity, the nearest to the players first. Undefined when that is exhausted.
 * @param tries what was asked for so far, at least one.
 * @param places where there is capacity, as far as that is known.
 */
export function nextAttempt(
  tries: readonly PlacementAttempt[],
  places: readonly Coordinates[],
  players: Coordinates | undefined,
): PlacementAttempt | undefined {
  if (tries.length >= MOST_TRIES) return undefined
  if (tries.every(({ cachedOnly }) => cachedOnly)) return { cachedOnly: false, at: undefined }
  const untried = places.filter((place) => !tries.some(({ at }) => at !== undefined && isSame(at, place)))
  const distance = (place: Coordinates) => (players === undefined ? 0 : greatCircleKm(players, place))
  const at = untried.toSorted((one, other) => distance(one) - distance(other))[0]
  return at && { cachedOnly: false, at }
}

const isSame = (one: Coordinates, other: Coordinates) => one.latitude === other.latitude && one.longitude === other.longitude

/** Where the players of a match are, as far as that is known. */
export const middleOfMatch = ({ tickets }: Pick<FoundMatch, 'tickets'>): Coordinates | undefined =>
  middleOf(tickets.flatMap(({ place, players }) => place ?? players.flatMap(({ coordinates }) => coordinates ?? [])))
