// pure: where to ask for a server, and where else when there is no capacity
import { type Coordinates, greatCircleKm, middleOf } from '@muster/core'
import type { FoundMatch, Placement, PlacementAttempt } from './records/allocation.js'

/** Most creates for one match; then its tickets return to the queue. */
const MOST_TRIES = 4
/** Kilometres around a beacon in which a server has about its latency: some 3 ms more (our choice). */
const NEAR_KM = 300

/** @param placements that the match's rules chose, the best first; none: near its players. */
export function firstAttempt(requireCachedLocations: boolean, [best]: readonly Placement[] = []): PlacementAttempt {
  return { cachedOnly: requireCachedLocations, at: best?.coordinates, placement: best }
}

/** What is known of places other than those that were tried. */
export interface Elsewhere {
  /** That the match's rules chose, the best first. The server goes to none but these, if there are any. */
  readonly placements: readonly Placement[]
  /** Where there is capacity; undefined if that is not known. */
  readonly places: readonly Coordinates[] | undefined
  /** Where the players are, if that is known. */
  readonly players: Coordinates | undefined
}

/**
 * What to ask for next: first the same without the restriction, if only cached locations were wanted; then place by
 * place: those that the rules chose, in their order, or else those that have capacity, the nearest to the players
 * first. Undefined when that is exhausted.
 * @param tries what was asked for so far, at least one.
 */
export function nextAttempt(tries: readonly PlacementAttempt[], elsewhere: Elsewhere): PlacementAttempt | undefined {
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
  { placements, places }: Elsewhere,
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

/** Where the players of a match are, as far as that is known. */
export const middleOfMatch = ({ tickets }: Pick<FoundMatch, 'tickets'>): Coordinates | undefined =>
  middleOf(tickets.flatMap(({ place, players }) => place ?? players.flatMap(({ coordinates }) => coordinates ?? [])))
