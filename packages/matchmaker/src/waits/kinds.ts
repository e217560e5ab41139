// pure: which tickets of a queue are alike
import type { Coordinates } from '@muster/core'
import { REGIONS, regionOf } from './regions.js'

/** What distinguishes tickets of a queue: where their players are, and how many. */
export interface Kind {
  /** Undefined: not known. */
  readonly place: Coordinates | undefined
  readonly players: number
}

/** Parties of so many players and more are alike (our choice). */
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
