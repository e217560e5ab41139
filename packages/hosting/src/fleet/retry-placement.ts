import { type Coordinates, greatCircleKm } from '@muster/core'
import { middleOf } from '@muster/core/internal'
import type { FoundMatch, Placement, PlacementAttempt, Server } from '../records/index.js'

/** Maximum number of creates for one match. Then its tickets return to the queue. */
const MOST_TRIES = 4
/** Maximum kilometres between a server and a beacon at which their latencies differ by some 3 ms (our choice). */
const NEAR_KM = 300

/** @param placements the locations chosen by the match's rules, the best first. None: near its players. */
export function firstAttempt(requireCachedLocations: boolean, [best]: readonly Placement[] = []): PlacementAttempt {
  return { cachedOnly: requireCachedLocations, at: best?.coordinates, placement: best }
}

/** Locations other than those that were tried. */
export interface OtherPlaces {
  /** Locations chosen by the match's rules, the best first. If there are any, the server goes only to these. */
  readonly placements: readonly Placement[]
  /** Locations with capacity. Undefined if unknown. */
  readonly places: readonly Coordinates[] | undefined
  /** The location of the players, if known. */
  readonly players: Coordinates | undefined
}

/**
 * Returns the next attempt. If only cached locations were tried, it is the first attempt without that restriction.
 * Later attempts try one location each: those chosen by the rules in order, or else those with capacity, the nearest to
 * the players first. Undefined when all are exhausted, or after `MOST_TRIES` attempts.
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

/** Returns the centre of the players of a match, as far as their locations are known. */
export const middleOfMatch = ({ tickets }: Pick<FoundMatch, 'tickets'>): Coordinates | undefined =>
  middleOf(tickets.flatMap(({ place, players }) => place ?? players.flatMap(({ coordinates }) => coordinates ?? [])))

/** @param places locations with capacity. Undefined if unknown */
export const elsewhereOf = (
  { placements = [], order }: Server,
  places: readonly Coordinates[] | undefined,
): OtherPlaces => ({
  placements,
  places,
  players: order && middleOfMatch({ tickets: order.near ?? order.tickets }),
})
