// pure: what a ticket says of a player's rating
import { ordinal, type Rating } from 'openskill'

/** Attributes of a player's rating, for rules to compare. */
export interface RatingAttributes {
  /** The most probable skill. */
  readonly mu: number
  /** How uncertain it is, as a standard deviation: above 0. */
  readonly sigma: number
  /** A conservative estimate: mu less some deviations. It rises while a player becomes known. */
  readonly rating: number
}

/** @param deviations how many standard deviations the conservative estimate stays below mu. */
export const ratingAttributes = (known: Rating, deviations: number): RatingAttributes => ({
  mu: known.mu,
  sigma: known.sigma,
  rating: ordinal(known, { z: deviations }),
})
