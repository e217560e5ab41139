import { type Coordinates, greatCircleKm } from '@muster/core'
import { middleOf } from '@muster/core/internal'
import type { FoundMatch, Placement, PlacementAttempt, Server } from '../records/index.js'

/** Maximum number of creates for one server. Then the tickets of its match return to the queue. */
const MOST_TRIES = 4
/** Kilometres within which a server counts as located at a beacon. Latencies differ by some 3 ms (our choice). */
const NEAR_KM = 300

/** Returns the first attempt. @param placements locations that rules choose, the best first. Empty: near the players */
export function firstAttempt(requireCachedLocations: boolean, [best]: readonly Placement[] = []): PlacementAttempt {
  return { cachedOnly: requireCachedLocations, at: best?.coordinates, placement: best }
}

/** The locations that further attempts may try. */
export interface OtherPlaces {
  /** The locations that the match's rules choose, the best first. If there are any, no other location is tried. */
  readonly placements: readonly Placement[]
  /** Locations with capacity. Undefined if unknown. */
  readonly places: readonly Coordinates[] | undefined
  /** The centre of the players. Undefined if unknown. */
  readonly players: Coordinates | undefined
}

/**
 * Returns the next attempt. Undefined if none is left, or after `MOST_TRIES` attempts. If only cached locations were
 * tried, the next attempt allows the others too. Each later attempt tries one location: those that the rules choose,
 * in order, or else those with capacity, the nearest to the players first.
 */
export function nextAttempt(tries: readonly PlacementAttempt[], elsewhere: OtherPlaces): PlacementAttempt | undefined {
  const { placements, places = [], players } = elsewhere
  if (tries.length >= MOST_TRIES) return undefined
  if (tries.every(({ cachedOnly }) => cachedOnly)) return firstAttempt(false, placements)
  if (placements.length > 0) return nextPlacement(tries, elsewhere)
  const distance = (place: Coordinates) => (players === undefined ? 0 : greatCircleKm(players, place))
  const at = places.filter(untried(tries)).toSorted((one, other) => distance(one) - distance(other))[0]
  return at && { cachedOnly: false, at, placement: undefined }
}

function nextPlacement(
  tries: readonly PlacementAttempt[],
  { placements, places }: OtherPlaces,
): PlacementAttempt | undefined {
  const isUntried = untried(tries)
  const hasCapacity = (at: Coordinates) =>
    places === undefined || places.some((place) => greatCircleKm(at, place) <= NEAR_KM)
  const next = placements.find(({ coordinates }) => isUntried(coordinates) && hasCapacity(coordinates))
  return next && { cachedOnly: false, at: next.coordinates, placement: next }
}

const untried = (tries: readonly PlacementAttempt[]) => (place: Coordinates) =>
  !tries.some(({ at }) => at !== undefined && isSame(at, place))

const isSame = (one: Coordinates, other: Coordinates) =>
  one.latitude === other.latitude && one.longitude === other.longitude

/** Returns the centre of a match's players. Undefined if no player's location is known. */
export const middleOfMatch = ({ tickets }: Pick<FoundMatch, 'tickets'>): Coordinates | undefined =>
  middleOf(tickets.flatMap(({ place, players }) => place ?? players.flatMap(({ coordinates }) => coordinates ?? [])))

/** Returns what further attempts may try. @param places locations with capacity. Undefined if unknown */
export const elsewhereOf = (
  { placements = [], order }: Server,
  places: readonly Coordinates[] | undefined,
): OtherPlaces => ({
  placements,
  places,
  players: order && middleOfMatch({ tickets: order.near ?? order.tickets }),
})
