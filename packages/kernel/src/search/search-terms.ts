// pure: what a search is given and what it finds
import type { Slot } from '../data/model.js'
import type { Packing } from '../teams/packing.js'
import type { CandidatesInput } from './candidates.js'

/** The tickets of a match and their teams; `slots` excludes the opening. */
export interface Found {
  readonly slots: Slot[]
  readonly teams: readonly number[]
}

/** An opening and the room in its teams. */
export interface Vacancy<Facts> {
  readonly slot: Slot
  readonly packing: Packing
  readonly rooms: readonly number[]
  readonly present: readonly (readonly Facts[])[]
  /** How many players each team has. */
  readonly players: readonly number[]
  /** The facts of the players present in all teams. */
  readonly everyone: readonly Facts[]
}

export interface SearchInput<Facts> extends CandidatesInput<Facts> {
  readonly packing: Packing
  /** Tries that one search has. @param before searches for the same ticket that were cut short. */
  triesOf(before: number): number
}

export interface SearchTerms {
  /** Whether tickets that no match of this round can hold are candidates again. Default false. */
  readonly anew?: boolean
  /** The candidates, in place of those that the grid knows; only the greedy choice is tried. */
  readonly among?: ArrayLike<Slot>
  /** The most that a match may cost: the mean over its pairs. Only with `among`. */
  readonly mostCost?: number
}
