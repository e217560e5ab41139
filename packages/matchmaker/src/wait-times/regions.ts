// pure: coarse regions of the earth; which tickets of a queue are alike
import type { Coordinates } from '@muster/core'

/** Degrees from south to north and from west to east (our choice): some 3,000 km, as far as most players may meet. */
const DEGREES = 30
/** Degrees by which the first region begins west of Greenwich, so that western Europe is in one. */
const WEST = 15
const COLUMNS = 360 / DEGREES
const ROWS = 180 / DEGREES

/** There are no more regions than these, whatever places are claimed. */
export const REGIONS = ROWS * COLUMNS

/** The middle of a region. */
export const middleOf = (region: number): Coordinates => ({
  latitude: (Math.floor(region / COLUMNS) + 0.5) * DEGREES - 90,
  longitude: ((((region % COLUMNS) + 0.5) * DEGREES - WEST + 180) % 360) - 180,
})

/** The region of a place: a whole number from 0 to `REGIONS` - 1. */
export function regionOf({ latitude, longitude }: Coordinates): number {
  const row = Math.min(ROWS - 1, Math.floor((latitude + 90) / DEGREES))
  const column = Math.floor((longitude + 360 + WEST) / DEGREES) % COLUMNS
  return row * COLUMNS + column
}

/** What distinguishes tickets of a queue: where their players are, and how many. */
export interface Kind {
  /** Undefined: not known. */
  readonly place: Coordinates | undefined
  readonly players: number
}

/** Parties of this many players and more count as one size (our choice). */
const LARGEST = 6

/** There are no more kinds than these, whatever is claimed. */
export const KINDS = (REGIONS + 1) * LARGEST

/** The region of a kind: tickets without a place are in one of their own. */
export const regionIn = (place: Coordinates | undefined): number => (place === undefined ? REGIONS : regionOf(place))

/** A whole number from 0 to `KINDS` - 1. */
export const kindOf = ({ place, players }: Kind): number =>
  regionIn(place) * LARGEST + Math.min(Math.max(1, players), LARGEST) - 1

export const regionOfKind = (kind: number): number => Math.floor(kind / LARGEST)
export const sizeOfKind = (kind: number): number => kind % LARGEST
