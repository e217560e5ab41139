// pure: coarse regions of the earth, and kinds of tickets
import type { Coordinates } from '@muster/core'

/** Size of a region in degrees (our choice): some 3,000 km. Most players are matched within this distance. */
const DEGREES = 30
/** Longitude in degrees west at which the first region begins, so that western Europe is in one region. */
const WEST = 15
const COLUMNS = 360 / DEGREES
const ROWS = 180 / DEGREES

/** Number of regions, whatever locations players claim. */
export const REGIONS = ROWS * COLUMNS

/** Returns the middle of a region. */
export const middleOf = (region: number): Coordinates => ({
  latitude: (Math.floor(region / COLUMNS) + 0.5) * DEGREES - 90,
  longitude: ((((region % COLUMNS) + 0.5) * DEGREES - WEST + 180) % 360) - 180,
})

/** Returns the region of a location: a whole number from 0 to `REGIONS` - 1. */
export function regionOf({ latitude, longitude }: Coordinates): number {
  const row = Math.min(ROWS - 1, Math.floor((latitude + 90) / DEGREES))
  const column = Math.floor((longitude + 360 + WEST) / DEGREES) % COLUMNS
  return row * COLUMNS + column
}

/** The properties that distinguish tickets of a queue: location and number of players. */
export interface Kind {
  /** Location of the players; undefined if unknown. */
  readonly place: Coordinates | undefined
  readonly players: number
}

/** Parties of this size or more count as one size (our choice). */
const LARGEST = 6

/** Number of kinds. It does not grow with the values that players claim. */
export const KINDS = (REGIONS + 1) * LARGEST

/** Returns the region of a kind. Tickets without a location have a region of their own. */
export const regionIn = (place: Coordinates | undefined): number => (place === undefined ? REGIONS : regionOf(place))

/** Returns the number of a kind: a whole number from 0 to `KINDS` - 1. */
export const kindOf = ({ place, players }: Kind): number =>
  regionIn(place) * LARGEST + Math.min(Math.max(1, players), LARGEST) - 1

export const regionOfKind = (kind: number): number => Math.floor(kind / LARGEST)
export const sizeOfKind = (kind: number): number => kind % LARGEST
